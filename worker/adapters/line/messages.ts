// A post → the message objects of one push. Pure.
//
//   M1  Text is one object, `textV2` where it mentions somebody in a group; to a single person names are text, because LINE takes no mentions
//       there.
//   M2  Buttons are an object of their own behind the text: a Flex bubble, which stays when it is pressed. A press comes back as a postback.
//   M3  A picture is an object of its own, which LINE fetches by a signed link, with itself as its preview; where LINE says no, the link is text.
import type { messagingApi } from '@line/bot-sdk';
import type { FileRef, Outgoing } from '../../sdk/index.ts';
import { PRESSED } from './parse.ts';
import { isPerson, type Piece, piecesOf } from './text.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
type Message = messagingApi.Message;

/** In one text. */
const MOST_MENTIONS = 20;
const MOST_LABEL = 40;
const MOST_ALT = 400;
/** Most that fits well below the 30 KB of a bubble. */
export const MOST_BUTTONS = 20;
/** Of a preview. */
export const MOST_IMAGE_BYTES = 1_000_000;
export const IMAGE_TYPES = ['image/jpeg', 'image/png'] as const;

export interface Told {
  readonly quoteToken: string | undefined;
  /** False: names are text. */
  readonly mentions: boolean;
  /** False: pictures are links. */
  readonly images: boolean;
  nameOf(user: string): string;
  urlOf(file: FileRef): string | undefined;
}

export function messagesOf(post: Post, told: Told): Message[] {
  const messages: Message[] = [];
  if (post.text !== '') messages.push(textOf(post, told));
  if (post.buttons.length > 0) messages.push(bubbleOf(post));
  for (const file of post.files) messages.push(...imageOf(file, told));
  return messages;
}

/** Who is named in a text to a single person. */
export const namedIn = ({ conversation, text }: Post): readonly string[] =>
  isPerson(conversation)
    ? piecesOf(text).flatMap((piece) =>
        typeof piece === 'string' || piece.mentioned === 'all' ? [] : [piece.mentioned],
      )
    : [];

/** M1. */
function textOf({ text, conversation }: Post, { quoteToken, mentions, nameOf }: Told): Message {
  const quote = quoteToken === undefined ? {} : { quoteToken };
  const pieces = piecesOf(text);
  const asText = (piece: Piece): string =>
    typeof piece === 'string' ? piece : `@${piece.mentioned === 'all' ? 'everyone' : nameOf(piece.mentioned)}`;
  if (!mentions || isPerson(conversation) || pieces.every((piece) => typeof piece === 'string'))
    return { type: 'text', text: pieces.map(asText).join(''), ...quote };
  const substitution: Record<string, messagingApi.SubstitutionObject> = {};
  let count = 0;
  const parts = pieces.map((piece) => {
    if (typeof piece === 'string' || count === MOST_MENTIONS) return asText(piece).replace(/[{}]/g, '$&$&');
    const key = `m${count}`;
    count += 1;
    const mentionee: messagingApi.MentionTarget =
      piece.mentioned === 'all' ? { type: 'all' } : { type: 'user', userId: piece.mentioned };
    substitution[key] = { type: 'mention', mentionee };
    return `{${key}}`;
  });
  return { type: 'textV2', text: parts.join(''), substitution, ...quote };
}

/** M2. */
function bubbleOf({ buttons }: Post): Message {
  const contents = buttons.map(({ label, token, style }): messagingApi.FlexButton => {
    const shown = cut(label, MOST_LABEL);
    return {
      type: 'button',
      height: 'sm',
      style: style === undefined ? 'secondary' : 'primary',
      ...(style === 'danger' ? { color: '#D92D20' } : {}),
      action: { type: 'postback', label: shown, data: `${PRESSED}${token}`, displayText: shown },
    };
  });
  return {
    type: 'flex',
    altText: cut(buttons.map(({ label }) => label).join(' · '), MOST_ALT),
    contents: { type: 'bubble', body: { type: 'box', layout: 'vertical', spacing: 'sm', contents } },
  };
}

/** M3. */
function imageOf(file: FileRef, { images, urlOf }: Told): Message[] {
  const url = urlOf(file);
  if (url === undefined) return [];
  return images
    ? [{ type: 'image', originalContentUrl: url, previewImageUrl: url }]
    : [{ type: 'text', text: `${file.name} (${url})` }];
}

/** No half of a character stays. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text || '…' : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
