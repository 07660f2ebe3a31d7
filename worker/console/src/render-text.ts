// Renders message text as elements. Control characters for the writing direction become �, since they could disguise a text.
import { element } from './elements.ts';
import { type Block, type Inline, parseMarkdown } from './markdown.ts';

/** A person's text, shown literally. */
export function literalText(text: string): Node {
  return element('span', { text: visible(text), attributes: { dir: 'auto' } });
}

/** A bot's text, rendered as Markdown. */
export function markdownText(source: string): readonly Node[] {
  return parseMarkdown(source).map(blockNode);
}

function blockNode(block: Block): Node {
  switch (block.kind) {
    case 'code':
      return element(
        'pre',
        {
          attributes: { tabindex: '0', ...(block.language === '' ? {} : { 'data-language': visible(block.language) }) },
        },
        [element('code', { text: visible(block.text) })],
      );
    case 'quote':
      return element('blockquote', { attributes: { dir: 'auto' } }, block.children.map(inlineNode));
    case 'text':
      return element('div', { attributes: { dir: 'auto' } }, block.children.map(inlineNode));
  }
}

function inlineNode(inline: Inline): Node {
  switch (inline.kind) {
    case 'text':
      return document.createTextNode(visible(inline.text));
    case 'code':
      return element('code', { text: visible(inline.text) });
    case 'mark':
      return element(inline.mark, {}, inline.children.map(inlineNode));
    case 'link':
      return element(
        'a',
        { attributes: { href: inline.url, target: '_blank', rel: 'noopener noreferrer nofollow' } },
        inline.children.map(inlineNode),
      );
  }
}

const visible = (text: string): string => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

/** A name, label or emoji. Direction marks and invisible characters become � in it. Joiners of emoji are kept. */
export const visibleName = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu, '\ufffd');
