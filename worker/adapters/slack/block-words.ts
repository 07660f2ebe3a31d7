// Words in what an app lays out: Block Kit blocks and attachments. Pure.
//
//   SLACK-BLOCK-WORDS-1  Each block is a line of its own, in the order shown. Links, persons and everyone are segments; styles are dropped.
//   SLACK-BLOCK-WORDS-2  An image or a video counts by its title, else by its alternative text. Controls (buttons, menus, inputs) have no words.
//   SLACK-BLOCK-WORDS-3  The fallback of an attachment counts only if nothing else of it has words.
import type { Segment } from '../../sdk/index.ts';
import { type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { SegmentList } from '../../sdk/text/segment-list.ts';
import { fromSlackName } from './emoji.ts';
import { segmentsOf } from './text.ts';

type Line = readonly Segment[];

/** The lines as one text. Empty lines are left out. */
export function joinedLines(lines: readonly Line[]): readonly Segment[] {
  const said = new SegmentList();
  for (const [at, line] of lines.filter(({ length }) => length > 0).entries()) {
    if (at > 0) said.say('\n');
    for (const segment of line) addTo(said, segment);
  }
  return said.segments;
}

export const blockLines = (blocks: readonly Json[]): readonly Line[] => blocks.flatMap(linesOfBlock);

export function attachmentLines(attachment: Json): readonly Line[] {
  const lines = [
    ...mrkdwnLines(attachment, ['pretext', 'title', 'text']),
    ...listAt(attachment, 'fields').flatMap((field) => mrkdwnLines(field, ['title', 'value'])),
    ...blockLines(listAt(attachment, 'blocks')),
    ...listAt(attachment, 'message_blocks').flatMap((one) => blockLines(listAt(objectAt(one, 'message'), 'blocks'))),
  ].filter(({ length }) => length > 0);
  return lines.length > 0 ? lines : mrkdwnLines(attachment, ['fallback']);
}

const mrkdwnLines = (of: Json, keys: readonly string[]): readonly Line[] =>
  keys.map((key) => segmentsOf(textAt(of, key) ?? ''));

function linesOfBlock(block: Json): readonly Line[] {
  switch (textAt(block, 'type')) {
    case 'rich_text':
      return listAt(block, 'elements').flatMap(linesOfRichText);
    case 'header':
      return [textLine(objectAt(block, 'text'))];
    case 'section':
      return [textLine(objectAt(block, 'text')), ...listAt(block, 'fields').map(textLine)];
    case 'context':
      return listAt(block, 'elements').map((one) =>
        one['type'] === 'image' ? plain(textAt(one, 'alt_text')) : textLine(one),
      );
    case 'image':
    case 'video': {
      const title = textLine(objectAt(block, 'title'));
      const described = title.length > 0 ? title : plain(textAt(block, 'alt_text'));
      return [described, textLine(objectAt(block, 'description'))];
    }
    case 'markdown':
      return [plain(textAt(block, 'text'))];
    case 'table':
      return rowsOf(block).map(lineOfRow);
    default:
      return [];
  }
}

/** A text object: `mrkdwn` has Slack's markup, `plain_text` and `raw_text` have none. */
const textLine = (text: Json): Line =>
  text['type'] === 'mrkdwn' ? segmentsOf(textAt(text, 'text') ?? '') : plain(textAt(text, 'text'));

const plain = (text: string | undefined): Line => (text === undefined ? [] : [{ kind: 'text', text }]);

function linesOfRichText(part: Json): readonly Line[] {
  if (part['type'] === 'rich_text_list')
    return listAt(part, 'elements').map((item) => [...plain('• '), ...lineOfRichText(item)]);
  return [lineOfRichText(part)];
}

const lineOfRichText = (part: Json): Line => listAt(part, 'elements').flatMap(segmentOfElement);

function segmentOfElement(element: Json): Line {
  const text = textAt(element, 'text');
  switch (textAt(element, 'type')) {
    case 'link': {
      const url = textAt(element, 'url');
      return url === undefined ? plain(text) : [{ kind: 'link', text: text ?? url, url }];
    }
    case 'user':
      return mentionOf(textAt(element, 'user_id'));
    case 'broadcast':
      return [{ kind: 'mention', user: 'everyone' }];
    case 'emoji':
      return plain(fromSlackName(textAt(element, 'name') ?? ''));
    case 'channel':
      return plain(`#${textAt(element, 'channel_id') ?? ''}`);
    case 'usergroup':
      return plain(`@${textAt(element, 'usergroup_id') ?? ''}`);
    case 'date':
      return plain(textAt(element, 'fallback'));
    default:
      return plain(text);
  }
}

const mentionOf = (id: string | undefined): Line =>
  id === undefined ? [] : [{ kind: 'mention', user: { endpoint: '', id } }];

function rowsOf(table: Json): readonly (readonly Json[])[] {
  const rows = table['rows'];
  return Array.isArray(rows) ? rows.map((row: unknown) => listAt({ row }, 'row')) : [];
}

const lineOfRow = (cells: readonly Json[]): Line =>
  joinedLines(
    cells.map((cell) => (cell['type'] === 'rich_text' ? joinedLines(linesOfBlock(cell)) : textLine(cell))),
  ).map((one) => (one.kind === 'text' ? { ...one, text: one.text.replaceAll('\n', ' | ') } : one));

function addTo(said: SegmentList, segment: Segment): void {
  if (segment.kind === 'text') said.say(segment.text);
  else said.add(segment);
}
