// Converts posts, edits, removals, reactions and typing to stanzas. A post is one stanza. Each file is a post of its own.
// A post stored by an older version together with its files takes several stanzas.
//
//   XMPP-SEND-1  A post is sent once the server has acknowledged it, or in a room once the room has echoed it.
//                The post's id is derived from the idempotency key and is the same in each attempt.
//   XMPP-SEND-2  A retry first searches the archive for the id, because an earlier attempt may have succeeded.
//                Without an archive the post is sent again.
//   XMPP-SEND-3  Nothing is sent to a room that we have not joined.
//   XMPP-SEND-4  A post of several messages is removed as a whole. Replies, corrections and reactions refer to its first message.
import { createHash } from 'node:crypto';
import type { XmlElement } from '@xmpp/client';
import type { FileRef, FilesApart, Link, Outgoing, SendResult } from '../../sdk/index.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import { type Account, bareJidOf } from './config.ts';
import type { Session } from './connection/session.ts';
import type { Conversations } from './conversations.ts';
import { sendFault } from './failures.ts';
import { upload } from './files/upload.ts';
import { originIn, ownMessage } from './own-messages.ts';
import { bareOf, inert, isJid, NS, normalJid, resourceOf } from './stanza.ts';
import type { AccountState } from './state.ts';
import { placeMentions } from './text.ts';

type Call<K extends Outgoing['kind']> = Extract<Outgoing, { kind: K }>;
type Post = Call<'post' | 'edit'>;

const NO_CONNECTION_MS = 2_000;
const NOT_JOINED_MS = 5_000;
const MOST_TARGETS = 20;
/** Number of messages for which our own reactions are remembered. */
const MOST_REACTED = 5_000;
const UNSUPPORTED = 'A message was removed here; your client does not show that.';

/** Throws if the server may have accepted the stanza. `later` means that nothing was sent. */
export async function send(call: Outgoing, link: Link<Account>, state: AccountState): Promise<SendResult> {
  const to = normalJid(call.conversation);
  if (!isJid(to)) return { kind: 'refused', reason: 'this is no XMPP address' };
  const { session, conversations } = state;
  if (session?.isOpen !== true || conversations === undefined) return { kind: 'later', afterMs: NO_CONNECTION_MS };
  const isGroup = conversations.rooms.nickIn(to) !== undefined;
  const closed = isGroup ? conversations.rooms.closed(to) : undefined;
  if (closed?.isFinal === true) return { kind: 'refused', reason: `not in the room: ${closed.reason}` };
  if (closed !== undefined) return { kind: 'later', afterMs: NOT_JOINED_MS };
  return new Sending({ link, state, session, conversations, to, isGroup }).run(call);
}

/** Each file takes a stanza and is therefore a post of its own. */
export function apart(text: string, files: readonly FileRef[]): FilesApart {
  const each = files.map((file) => [file]);
  return text.trim() === '' ? { withText: each[0] ?? [], behind: each.slice(1) } : { withText: [], behind: each };
}

interface Surroundings {
  readonly link: Link<Account>;
  readonly state: AccountState;
  readonly session: Session;
  readonly conversations: Conversations;
  readonly to: string;
  readonly isGroup: boolean;
}

class Sending {
  readonly #in: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#in = surroundings;
  }

  async run(call: Outgoing): Promise<SendResult> {
    switch (call.kind) {
      case 'post':
        return this.#post(call);
      case 'edit':
        return this.#edit(call);
      case 'remove':
        return this.#remove(call);
      case 'react':
        return this.#react(call);
      case 'typing':
        return this.#typing();
    }
  }

  /** Sends text and files one after the other. The result lists the ids of all messages. */
  async #post(call: Post): Promise<SendResult> {
    const steps: ((id: string) => Promise<XmlElement | SendResult>)[] = [
      ...(call.text.trim() === '' ? [] : [async (id: string) => this.#text(call, id)]),
      ...call.files.map((file) => (id: string) => this.#file(file, id)),
    ];
    if (steps.length === 0) return { kind: 'refused', reason: 'nothing to say: the text is blank' };
    const written: string[] = [];
    for (const [i, step] of steps.entries()) {
      const id = idOf(call.key, i);
      const known = call.repeat === true ? await this.#saidBefore(id) : undefined;
      const stanza = known ?? (await step(id));
      const result = 'kind' in stanza ? stanza : await this.#write(stanza, id);
      if (result.kind !== 'sent') return result;
      if (result.message !== undefined) written.push(result.message);
    }
    return { kind: 'sent', ...(written.length === 0 ? {} : { message: written.join(BESIDE) }) };
  }

  async #edit(call: Post): Promise<SendResult> {
    const { xml } = this.#in.session;
    if (call.files.length > 0) return { kind: 'refused', reason: 'XMPP adds no files to a message' };
    const origin = await originIn(this.#in, firstOf(call.message ?? ''));
    if (origin === undefined) return { kind: 'refused', reason: 'the message to correct is not known any more' };
    const stanza = this.#text(call, idOf(call.key, 0), xml('replace', { xmlns: NS.correct, id: origin }));
    const result = await this.#write(stanza, stanza.attrs['id'] ?? '');
    return result.kind === 'sent' && call.message !== undefined ? { kind: 'sent', message: call.message } : result;
  }

  async #remove(call: Call<'remove'>): Promise<SendResult> {
    const { xml } = this.#in.session;
    for (const [i, message] of call.message.split(BESIDE).entries()) {
      const id = idOf(call.key, i);
      const stanza = this.#message(
        id,
        xml('retract', { xmlns: NS.retract, id: inert(message) }),
        xml('fallback', { xmlns: NS.fallback, for: NS.retract }),
        xml('body', {}, UNSUPPORTED),
        xml('store', { xmlns: NS.hints }),
      );
      const result = await this.#write(stanza, id);
      if (result.kind !== 'sent') return result;
    }
    return { kind: 'sent' };
  }

  /** XEP-0444 requires all our current reactions on the message in each stanza. */
  async #react(call: Call<'react'>): Promise<SendResult> {
    const { xml } = this.#in.session;
    const { ownReactions } = this.#in.state;
    const message = firstOf(call.message);
    const key = `${this.#in.to}\n${message}`;
    const others = (ownReactions.get(key) ?? []).filter((emoji) => emoji !== call.emoji);
    const now = call.on ? [...others, call.emoji] : others;
    const id = idOf(call.key, 0);
    const stanza = this.#message(
      id,
      xml(
        'reactions',
        { xmlns: NS.reactions, id: inert(message) },
        ...now.map((emoji) => xml('reaction', {}, inert(emoji))),
      ),
      xml('store', { xmlns: NS.hints }),
    );
    const result = await this.#write(stanza, id);
    if (result.kind === 'sent') keepNewest(ownReactions, [key, now], MOST_REACTED);
    return bare(result);
  }

  async #typing(): Promise<SendResult> {
    const { xml } = this.#in.session;
    await this.#in.session.write(
      this.#message(undefined, xml('composing', { xmlns: NS.chatStates }), xml('no-store', { xmlns: NS.hints })),
    );
    return { kind: 'sent' };
  }

  #text(call: Post, id: string, more?: XmlElement): XmlElement {
    const { xml } = this.#in.session;
    const { to, isGroup, conversations, state } = this.#in;
    const { text, mentions } = placeMentions(inert(call.text), (user) =>
      resourceOf(user) !== ''
        ? resourceOf(user)
        : ((isGroup ? conversations.rooms.nickOf(to, bareOf(user)) : undefined) ?? user.split('@', 1)[0] ?? user),
    );
    const references = mentions.slice(0, MOST_TARGETS).map(({ begin, end, user }) =>
      xml('reference', {
        xmlns: NS.reference,
        type: 'mention',
        begin: String(begin),
        end: String(end),
        uri: `xmpp:${user.split('/', 1)[0]}${resourceOf(user) === '' ? '' : `/${encodeURIComponent(resourceOf(user))}`}`,
      }),
    );
    const replyTo = call.replyTo === undefined ? undefined : firstOf(call.replyTo);
    const author = replyTo === undefined ? undefined : state.ids.known(to, replyTo)?.author;
    const reply =
      replyTo === undefined || call.kind === 'edit'
        ? undefined
        : xml('reply', { xmlns: NS.reply, id: inert(replyTo), ...(author === undefined ? {} : { to: author }) });
    return this.#message(
      id,
      xml('body', {}, text),
      reply,
      more,
      ...references,
      xml('active', { xmlns: NS.chatStates }),
    );
  }

  async #file(file: FileRef, id: string): Promise<XmlElement | SendResult> {
    const { xml } = this.#in.session;
    const uploaded = await upload(file, this.#in.session, this.#in.link);
    if (typeof uploaded !== 'string') return uploaded;
    return this.#message(id, xml('body', {}, uploaded), xml('x', { xmlns: NS.oob }, xml('url', {}, uploaded)));
  }

  #message(id: string | undefined, ...children: (XmlElement | undefined)[]): XmlElement {
    const { session, to, isGroup, conversations } = this.#in;
    const { xml } = session;
    const isPrivateInRoom = !isGroup && conversations.rooms.nickIn(bareOf(to)) !== undefined;
    const origin = id === undefined ? undefined : xml('origin-id', { xmlns: NS.sid, id });
    const mark = isPrivateInRoom ? xml('x', { xmlns: NS.mucUser }) : undefined;
    const attrs = { to, type: isGroup ? 'groupchat' : 'chat', ...(id === undefined ? {} : { id }) };
    return xml('message', attrs, ...children.filter((one) => one !== undefined), origin, mark);
  }

  /** Sends the stanza and waits for the server's acknowledgement or the room's echo. */
  async #write(stanza: XmlElement, id: string): Promise<SendResult> {
    const { session, state, isGroup, to } = this.#in;
    const { confirmMs } = session.timing;
    const outcome = state.pending.expect({ id, stanza, isEchoed: isGroup, limitMs: confirmMs });
    outcome.catch(() => {}); // awaited below, unless the write fails first
    await session.write(stanza);
    if (session.entity?.streamManagement.enabled === false && !isGroup) void this.#askAfter(stanza);
    const end = await outcome;
    if (end.kind === 'refused') return sendFault(end.fault);
    const message = end.archiveId ?? id;
    state.ids.learn(to, message, { author: this.#own(), origin: id });
    return { kind: 'sent', message };
  }

  /** For servers without acknowledgements: stanzas are handled in order, so the answer to a ping confirms the stanza before it. */
  async #askAfter(stanza: XmlElement): Promise<void> {
    const { session, state } = this.#in;
    const { xml } = session;
    const taken = (): void => state.pending.acknowledged(stanza);
    await session.request(xml('iq', { type: 'get' }, xml('ping', { xmlns: NS.ping }))).then(taken, (error: unknown) => {
      if ((error as { name?: string }).name === 'StanzaError') taken();
    });
  }

  /** Searches the archive for an earlier attempt of the same post. */
  async #saidBefore(id: string): Promise<SendResult | undefined> {
    const message = await ownMessage(this.#in, id);
    return message === undefined ? undefined : { kind: 'sent', message };
  }

  #own(): string {
    const { isGroup, to, conversations, link } = this.#in;
    return isGroup ? `${to}/${conversations.rooms.nickIn(to)}` : bareJidOf(link.account);
  }
}

const idOf = (key: string, part: number): string =>
  `svc-${createHash('sha256').update(`${part}\n${key}`).digest('base64url').slice(0, 27)}`;

/** Separates the ids of a post of several messages. XML does not allow this character, so no id contains it. */
const BESIDE = '\u001e';
const firstOf = (message: string): string => message.split(BESIDE, 1)[0] ?? '';

/** Drops the message id of a reaction, which nothing refers to. */
const bare = (result: SendResult): SendResult => (result.kind === 'sent' ? { kind: 'sent' } : result);
