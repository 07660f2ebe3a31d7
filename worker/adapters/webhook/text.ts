// Texts of the webhook in both directions: Markdown outward, mentions beside the text in both. Pure.
//
//   T1  Outward a mention is written between two invisible marks until it is sent; then it is `@id` in the text, and named beside it.
//   T2  Inward what `mentions` names is a mention wherever that text stands; a mention of the bot at the beginning is no part of the text.
import type { Rich, Segment } from '../../sdk/index.ts';
import { render } from '../../sdk/text/render.ts';
import { SegmentList } from '../../sdk/text/segment-list.ts';

const EDGE = '\u2063';

/** T1. Hexadecimal digits mean nothing in Markdown. */
export function renderMarkdown({ segments }: Rich): string {
  const bare = (segment: Segment): Segment => {
    if (segment.kind === 'link') return { ...segment, text: bareText(segment.text), url: bareText(segment.url) };
    if (segment.kind !== 'mention') return { ...segment, text: bareText(segment.text) };
    const who = segment.user === 'everyone' ? EVERYONE : Buffer.from(segment.user.id).toString('hex');
    return { kind: 'text', text: `${EDGE}${who}${EDGE}` };
  };
  return render(segments.map(bare), 'markdown');
}

const bareText = (text: string): string => text.replaceAll(EDGE, '');

/** No id is written so. */
const EVERYONE = '-';
/** As `renderMarkdown` writes one: what an older version stored may have such marks of somebody's own around other text. */
const WRITTEN = new RegExp(`${EDGE}(${EVERYONE}|(?:[0-9a-f]{2})+)${EDGE}`, 'g');

/** Who is mentioned, and how that stands in the text. */
export interface NamedMention {
  readonly text: string;
  /** `everyone` is all. */
  readonly user: string;
}

/** T1. Each person once. */
export function placeMentions(rendered: string): { readonly text: string; readonly mentions: readonly NamedMention[] } {
  const mentions = new Map<string, NamedMention>();
  const text = rendered.replace(WRITTEN, (_, who: string) => {
    const user = who === EVERYONE ? 'everyone' : Buffer.from(who, 'hex').toString();
    const shown = render([{ kind: 'text', text: `@${user}` }], 'markdown');
    mentions.set(who, { text: shown, user });
    return shown;
  });
  return { text, mentions: [...mentions.values()] };
}

export interface Mention {
  readonly text: string;
  /** Left out: the bot is meant, or everybody. */
  readonly user?: string | undefined;
  readonly everyone?: boolean | undefined;
  readonly self?: boolean | undefined;
}

export interface Heard {
  readonly text: string | readonly Segment[];
  readonly isToBot: boolean;
}

/** To look through more for many names would take long; nobody writes so much at once. */
const MOST_LETTERS = 32_000;
/** Each is stored with its id: of one letter, named wherever it stands, a small body would be a row of many megabytes. */
const MOST_PLACES = 1_000;

/** T2. Where two could stand at one place, the longer one does. */
export function heard(text: string, mentions: readonly Mention[]): Heard {
  if (mentions.length === 0 || text.length > MOST_LETTERS) return { text, isToBot: false };
  const byText = new Map(mentions.map((one) => [one.text, one]));
  const names = [...byText.keys()].toSorted((a, b) => b.length - a.length).map(escaped);
  const pieces = text.split(new RegExp(`(${names.join('|')})`));
  if (pieces.length > 2 * MOST_PLACES + 1) return { text, isToBot: false };
  const list = new SegmentList();
  let isToBot = false;
  let isBegin = true;
  for (const piece of pieces) {
    const { self, user } = byText.get(piece) ?? {};
    const isMention = byText.has(piece);
    isToBot ||= self === true;
    if (self === true && isBegin) continue;
    if (isMention && self !== true)
      list.add({ kind: 'mention', user: user === undefined ? 'everyone' : { endpoint: '', id: user } });
    else list.say(isToBot && isBegin ? piece.replace(/^[\s:,]+/, '') : piece);
    isBegin &&= piece.trim() === '';
  }
  const [only, ...others] = list.segments;
  const isPlain = others.length === 0 && (only === undefined || only.kind === 'text');
  return { text: isPlain ? ((only as { readonly text?: string } | undefined)?.text ?? '') : list.segments, isToBot };
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
