// Turns a post into the message objects of a push. Pure.
//
//   LINE-MESSAGES-1  Text is one object, of type `textV2` if it mentions people in a group. LINE accepts no mentions to a single person, so names
//                    become text there.
//   LINE-MESSAGES-2  Buttons are a Flex bubble after the text, which stays when a button is pressed. A press arrives as a postback.
//   LINE-MESSAGES-3  A picture is an object of its own. LINE fetches it by a signed link, also for its preview. If LINE refuses, the link becomes
//                    text.
import type { messagingApi } from '@line/bot-sdk';
import type { FileRef, Outgoing } from '../../sdk/index.ts';
import { PRESSED } from './parse.ts';
import { isPerson, type Piece, piecesOf } from './text.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
type Message = messagingApi.Message;

/** LINE's limit for one text. */
const MOST_MENTIONS = 20;
const MOST_LABEL = 40;
const MOST_ALT = 400;
/** Fits well below LINE's limit of 30 KB for a bubble. */
export const MOST_BUTTONS = 20;
/** LINE's limit for a preview picture. */
export const MOST_IMAGE_BYTES = 1_000_000;
export const IMAGE_TYPES = ['image/jpeg', 'image/png'] as const;

export interface Told {
  readonly quoteToken: string | undefined;
  /** False: mentions become names in the text. */
  readonly mentions: boolean;
  /** False: pictures become links. */
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

/** People mentioned in a text to a single person. The names of these people become text. */
export const namedIn = ({ conversation, text }: Post): readonly string[] =>
  isPerson(conversation)
    ? piecesOf(text).flatMap((piece) =>
        typeof piece === 'string' || piece.mentioned === 'all' ? [] : [piece.mentioned],
      )
    : [];

/** Mentions people if the conversation is a group and LINE accepts mentions. Otherwise their names become text. */
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

/** Buttons as a Flex bubble, which stays when a button is pressed. */
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

/** A picture that LINE fetches by its signed link, or that link as text. Empty without a link. */
function imageOf(file: FileRef, { images, urlOf }: Told): Message[] {
  const url = urlOf(file);
  if (url === undefined) return [];
  return images
    ? [{ type: 'image', originalContentUrl: url, previewImageUrl: url }]
    : [{ type: 'text', text: `${file.name} (${url})` }];
}

/** Never cuts a surrogate pair in half. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text || '…' : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
