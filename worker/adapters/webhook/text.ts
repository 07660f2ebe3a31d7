// Texts of the webhook in both directions: outgoing text is Markdown, and mentions stand beside the text. Pure.
//
//   WEBHOOK-TEXT-1  Rendering writes an outgoing mention between two invisible marks. Sending turns it into `@id` and lists it beside the text.
//   WEBHOOK-TEXT-2  Incoming: wherever the text of an entry of `mentions` stands, it is a mention.
//                   A mention of the bot at the beginning is removed.
import type { Rich, Segment } from '../../sdk/index.ts';
import { render } from '../../sdk/text/render.ts';
import { SegmentList } from '../../sdk/text/segment-list.ts';
import { BEHIND_NAME, isUnseen } from '../../sdk/text/unseen-edges.ts';

const EDGE = '\u2063';

/** Renders mentions in hexadecimal between invisible marks, because hexadecimal digits have no meaning in Markdown. */
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

/** Stands for everyone. Ids are written in hexadecimal, so no id looks like this. */
const EVERYONE = '-';
/** A mention as `renderMarkdown` writes it. Posts stored by an older version may hold such marks around other text. */
const WRITTEN = new RegExp(`${EDGE}(${EVERYONE}|(?:[0-9a-f]{2})+)${EDGE}`, 'g');

/** A mentioned person and the text that shows the mention. */
export interface NamedMention {
  readonly text: string;
  /** The person's id, or `everyone`. */
  readonly user: string;
}

/** Replaces rendered mentions with `@id` and lists each person once. */
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
  /** Left out if the bot or everyone is meant. */
  readonly user?: string | undefined;
  readonly everyone?: boolean | undefined;
  readonly self?: boolean | undefined;
}

export interface Heard {
  readonly text: string | readonly Segment[];
  readonly isToBot: boolean;
}

/** Longer texts are not searched for mentions, because the search would take too long. */
const MOST_LETTERS = 32_000;
/** Each mention is stored with its id. Without a limit, a small body with a one-letter name could become a row of many megabytes. */
const MOST_PLACES = 1_000;

/** Finds mentions in the text. If two begin at the same character, the longer one is used. */
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
    else list.say(isToBot && isBegin ? piece.replace(BEHIND_NAME, '') : piece);
    isBegin &&= isUnseen(piece);
  }
  const [only, ...others] = list.segments;
  const isPlain = others.length === 0 && (only === undefined || only.kind === 'text');
  return { text: isPlain ? ((only as { readonly text?: string } | undefined)?.text ?? '') : list.segments, isToBot };
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
