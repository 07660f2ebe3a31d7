// A fact as an event of the journal, and back. Its texts are sealed: salted, hashed into `data`, kept beside it.
import { randomBytes } from 'node:crypto';
import type { Fact, FactKind } from '../board/model.ts';
import { type ChainedEvent, canonicalJson, digestOf, type SealedText, textDigest } from './chain.ts';

const SALT_BYTES = 16;
/** Random bytes come in stores of so many salts: a call to the system for each costs as much as four hashes. */
const SALTS = 256;
let store = Buffer.alloc(0);

function salt(): string {
  if (store.length === 0) store = randomBytes(SALT_BYTES * SALTS);
  const bytes = store.subarray(0, SALT_BYTES);
  store = store.subarray(SALT_BYTES);
  return bytes.toString('hex');
}

export interface JournalEvent extends ChainedEvent {
  /** JSON `{field: {salt, text}}`, null without texts. */
  readonly texts: string | null;
  readonly digest: string;
}

export interface CommandIdentity {
  /** Names one intention: `<id>/1`, `<id>/2`, … are its events. */
  readonly id: string;
  /** What led to the command, such as the inbox item. */
  readonly cause: string | null;
}

export function journalEvent(fact: Fact, index: number, { id, cause }: CommandIdentity): JournalEvent {
  const { stream, version, kind, at, actor } = fact;
  const { data, texts } = sealed(fact);
  const event = { id: `${id}/${index + 1}`, stream, version, kind, at, actor, cause, data, texts, digest: '' };
  event.digest = digestOf(event);
  return event;
}

/** Canonical JSON of both. */
function sealed({ data, texts }: Fact): Pick<JournalEvent, 'data' | 'texts'> {
  const fields = Object.keys(texts);
  if (fields.length === 0) return { data: canonicalJson(data), texts: null };
  const hashed: Record<string, unknown> = { ...data };
  const words: Record<string, SealedText> = {};
  for (const field of fields) {
    const one = { salt: salt(), text: texts[field] ?? '' };
    words[field] = one;
    hashed[field] = textDigest(one);
  }
  return { data: canonicalJson(hashed), texts: canonicalJson(words) };
}

/** The fact of a stored event. A text that was erased is undefined. */
export function factOf(event: Omit<JournalEvent, 'digest'>): Fact {
  const { stream, version, kind, at, actor } = event;
  const texts = Object.fromEntries(Object.entries(textsOf(event)).map(([field, { text }]) => [field, text]));
  return {
    stream,
    version,
    kind: kind as FactKind, // a kind that is none is refused by `evolve`
    at,
    actor,
    data: JSON.parse(event.data) as Fact['data'],
    texts,
  };
}

export const textsOf = ({ texts }: Pick<JournalEvent, 'texts'>): Readonly<Record<string, SealedText>> =>
  texts === null ? {} : (JSON.parse(texts) as Record<string, SealedText>);
