// Converts message stanzas to arrivals. Pure except for the tables of ids and reactions.
//
//   XMPP-PARSE-1  Values that only a server may assign (archive ids, real addresses in rooms) are accepted from that server only.
//   XMPP-PARSE-2  A person's id is the bare address. In a room it is the real address if known, else the room's address with the nick.
//                 A nick proves no identity, so operators must be configured by their real addresses.
//   XMPP-PARSE-3  A correction or removal of another person's message is ignored while its author is known.
import { createHash } from 'node:crypto';
import type { XmlElement } from '@xmpp/client';
import type { Arrival } from '../../sdk/index.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import { filesOf } from './files/attachments.ts';
import type { MessageIds } from './message-ids.ts';
import { bareOf, inert, NS, normalJid, resourceOf } from './stanza.ts';
import { actionIn, bodyOf, spokenTo } from './text.ts';

export interface Occupant {
  /** The real bare address, if the room reveals it. */
  readonly jid: string | undefined;
  readonly admin: boolean;
}
export interface ParseContext {
  /** Our bare address. */
  readonly self: string;
  /** Our nick in a configured room. Undefined for any other address. */
  readonly nickIn: (room: string) => string | undefined;
  readonly occupant: (room: string, nick: string) => Occupant | undefined;
  readonly ids: MessageIds;
  /** A person's current reactions, by conversation, message and author. */
  readonly reactions: Map<string, readonly string[]>;
}
export interface Came {
  readonly stanza: XmlElement;
  /** Id in the archive that contains, or will contain, the message. */
  readonly archiveId: string | undefined;
  readonly sentAt: number;
  readonly isArchived: boolean;
}

type Base = Pick<Arrival, 'id' | 'conversation' | 'user' | 'sentAt'>;

/** Archive id of a live message. Only an id assigned by that archive itself is accepted. */
export function archiveIdOf(stanza: XmlElement, place: string): string | undefined {
  const given = stanza.getChildren('stanza-id', NS.sid).find(({ attrs }) => bareOf(attrs['by'] ?? '') === place);
  return given?.attrs['id']?.slice(0, 256) || undefined;
}

export const originOf = (stanza: XmlElement): string =>
  (stanza.attrs['id'] || stanza.getChild('origin-id', NS.sid)?.attrs['id'] || '').slice(0, 1_024);

export function arrivalsOf(came: Came, context: ParseContext): readonly Arrival[] {
  const { stanza, archiveId } = came;
  const from = normalJid(stanza.attrs['from'] ?? '');
  const isGroup = stanza.attrs['type'] === 'groupchat';
  const nick = resourceOf(from);
  const room = bareOf(from);
  const ourNick = context.nickIn(room);
  if (isGroup && nick === '' && ourNick !== undefined) return moderationOf(came, room, context);
  if (from === '' || (isGroup && (nick === '' || ourNick === undefined))) return [];
  const isSelf = isGroup || ourNick !== undefined ? nick === ourNick : room === context.self;

  const base = baseOf(came, { from, isGroup, isPrivateInRoom: !isGroup && ourNick !== undefined }, context);
  const place = base.conversation.id;
  const origin = originOf(stanza);
  const message = (isGroup ? archiveId : undefined) ?? (origin || base.id);
  const replaced = stanza.getChild('replace', NS.correct)?.attrs['id'];
  const author = isGroup || ourNick !== undefined ? from : room;
  if (replaced === undefined) context.ids.learn(place, message, { author, origin });
  if (isSelf) return [];
  return (
    removalOf(stanza, { base, author }, context) ??
    reactionsOf(stanza, { base, author }, context) ??
    said(came, { base, author, message, replaced, ourNick: isGroup ? (ourNick ?? '') : undefined, room }, context)
  );
}

function baseOf(
  { stanza, archiveId, sentAt, isArchived }: Came,
  {
    from,
    isGroup,
    isPrivateInRoom,
  }: { readonly from: string; readonly isGroup: boolean; readonly isPrivateInRoom: boolean },
  context: ParseContext,
): Base {
  const bare = bareOf(from);
  const nick = resourceOf(from);
  const known =
    isGroup || isPrivateInRoom ? (context.occupant(bare, nick) ?? { jid: undefined, admin: false }) : undefined;
  const told = isArchived ? realJidIn(stanza) : undefined;
  const real = isArchived ? told : known?.jid;
  const id = known === undefined ? bare : isGroup ? (real ?? from) : from;
  const conversation = isGroup ? bare : known === undefined ? bare : from;
  return {
    id: archiveId === undefined ? digestOf(stanza, sentAt) : isGroup ? `${bare}:${archiveId}` : `a:${archiveId}`,
    conversation: { id: conversation, kind: isGroup ? 'group' : 'private' },
    user: {
      id,
      name: known === undefined ? (bare.split('@', 1)[0] ?? bare) : nick,
      admin: isGroup && !isArchived && known?.admin === true,
    },
    sentAt,
  };
}

/** Real address from a room's archive. The room adds its element after any the sender may have forged. */
function realJidIn(stanza: XmlElement): string | undefined {
  const jid = stanza.getChildren('x', NS.mucUser).at(-1)?.getChild('item')?.attrs['jid'];
  return jid === undefined ? undefined : bareOf(jid);
}

/** Id for a message without an archive id. A repeated stanza, also from a room's history, gets the same id; without an id its minute counts. */
function digestOf(stanza: XmlElement, sentAt: number): string {
  const { from = '', type = '' } = stanza.attrs;
  const id = originOf(stanza) || `@${Math.floor(sentAt / 60_000)}`;
  const means = [NS.reactions, NS.retract, NS.correct].flatMap((namespace) =>
    stanza.getChildElements().filter((one) => one.getNS() === namespace),
  );
  const text = [from, id, type, stanza.getChildText('body') ?? '', ...means.map(String)].join('\n');
  return `h:${createHash('sha256').update(text).digest('base64url').slice(0, 27)}`;
}

function removalOf(
  stanza: XmlElement,
  { base, author }: { readonly base: Base; readonly author: string },
  { ids }: ParseContext,
): readonly Arrival[] | undefined {
  const removed =
    stanza.getChild('retract', NS.retract)?.attrs['id'] ??
    (stanza.getChild('apply-to', NS.fasten)?.getChild('retract', NS.retract0) === undefined
      ? undefined
      : stanza.getChild('apply-to', NS.fasten)?.attrs['id']);
  if (removed === undefined) return undefined;
  const message = ids.named(base.conversation.id, author, removed);
  const writer = ids.known(base.conversation.id, message)?.author;
  return writer === undefined || writer === author ? [{ ...base, kind: 'deleted', message }] : [];
}

/** Removals by a moderator, which the room itself sends (XEP-0425, and its form before version 0.3). */
function moderationOf(came: Came, room: string, context: ParseContext): readonly Arrival[] {
  const { stanza } = came;
  const retract = stanza.getChild('retract', NS.retract);
  const applied = stanza.getChild('apply-to', NS.fasten);
  const before = applied?.getChild('moderated', NS.moderate0);
  const moderated = retract?.getChild('moderated', NS.moderate) ?? before;
  const message = retract?.attrs['id'] ?? (before?.getChild('retract', NS.retract0) && applied?.attrs['id']);
  if (moderated === undefined || message === undefined) return [];
  const by = normalJid(moderated.attrs['by'] ?? '');
  const from = bareOf(by) === room ? by : room;
  if (resourceOf(from) === context.nickIn(room)) return [];
  return [{ ...baseOf(came, { from, isGroup: true, isPrivateInRoom: false }, context), kind: 'deleted', message }];
}

/** XEP-0444 sends all current reactions of a person, so the difference to the previous ones arrives. */
function reactionsOf(
  stanza: XmlElement,
  { base, author }: { readonly base: Base; readonly author: string },
  { ids, reactions }: ParseContext,
): readonly Arrival[] | undefined {
  const element = stanza.getChild('reactions', NS.reactions);
  const id = element?.attrs['id'];
  if (element === undefined || id === undefined) return undefined;
  const place = base.conversation.id;
  const message = ids.known(place, id) === undefined ? ids.named(place, author, id) : id;
  const key = `${place}\n${message}\n${author}`;
  const now = [...new Set(element.getChildren('reaction').map((one) => inert(one.text()).trim().slice(0, 64)))]
    .filter(Boolean)
    .slice(0, 20);
  const before = reactions.get(key) ?? [];
  keepNewest(reactions, [key, now], MOST_KEPT);
  const changes = [
    ...now.filter((emoji) => !before.includes(emoji)).map((emoji) => ({ emoji, on: true })),
    ...before.filter((emoji) => !now.includes(emoji)).map((emoji) => ({ emoji, on: false })),
  ];
  return changes.map((change, i) => ({ ...base, id: `${base.id}#${i}`, kind: 'reaction', message, ...change }));
}

interface Said {
  readonly base: Base;
  readonly author: string;
  readonly message: string;
  readonly replaced: string | undefined;
  readonly ourNick: string | undefined;
  readonly room: string;
}

function said({ stanza }: Came, of: Said, { ids, self }: ParseContext): readonly Arrival[] {
  const { base, author, replaced, ourNick, room } = of;
  const place = base.conversation.id;
  const files = filesOf(stanza);
  const whole = bodyOf(stanza);
  const isLink = files.some(({ id }) => id === whole.trim());
  if ((whole.trim() === '' && files.length === 0) || stanza.getChild('encrypted') !== undefined) return [];
  const reply = stanza.getChild('reply', NS.reply)?.attrs;
  const action = actionIn(whole);
  const words = action ?? whole;
  const { text, isSpokenTo } = ourNick === undefined ? { text: words, isSpokenTo: true } : spokenTo(words, ourNick);
  const uris = stanza.getChildren('reference', NS.reference).map(({ attrs }) => attrs['uri']);
  const isNamed =
    ourNick !== undefined &&
    (uris.includes(`xmpp:${self}`) ||
      uris.includes(`xmpp:${room}/${encodeURIComponent(ourNick)}`) ||
      normalJid(reply?.['to'] ?? '') === `${room}/${ourNick}`);
  const known = replaced === undefined ? undefined : ids.named(place, author, replaced);
  if (known !== undefined && (ids.known(place, known)?.author ?? author) !== author) return [];
  return [
    {
      ...base,
      kind: known === undefined ? 'message' : 'edited',
      message: known ?? of.message,
      text: isLink ? '' : action === undefined ? text : [{ kind: 'text', text: action, marks: ['italic'] }],
      addressed: isSpokenTo || isNamed,
      ...(reply?.['id'] === undefined
        ? {}
        : {
            replyTo:
              ids.known(place, reply['id']) === undefined
                ? ids.named(place, normalJid(reply['to'] ?? ''), reply['id'])
                : reply['id'],
          }),
      ...(files.length === 0 ? {} : { files }),
    },
  ];
}

const MOST_KEPT = 5_000;
