// The rules of a job's keys. Checked by hand: a compiled schema of 1,000 jobs would hold the event loop, and it names no nearest key.
import { type Finding, pointerTo } from '../config/fault.ts';
import { nearest } from '../config/nearest.ts';
import { isZone, nearestZone } from '../config/time-zone.ts';
import { readDuration } from '../time/duration.ts';
import { isAt } from './due-times.ts';
import {
  ID_SHAPE,
  JOB_ID,
  type Job,
  type JobAction,
  type JobPlace,
  type JobTiming,
  type Missed,
  type Overlap,
} from './job.ts';

const LARGEST_TEXT_BYTES = 16_384;
const LONGEST_TITLE = 200;
const LARGEST_ITEM_TITLE_BYTES = 512;
const BOARD_ID = /^[a-z][a-z0-9]{0,15}$/;
const MEMBER_ID = /^[a-z][a-z0-9-]{0,31}$/;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

export const MISSED: readonly Missed[] = ['skip', 'run_once', 'run_all'];
export const OVERLAP: readonly Overlap[] = ['skip', 'queue', 'allow'];
export const JOB_KEYS = [
  'id',
  'title',
  'cron',
  'at',
  'every',
  'from',
  'timezone',
  'do',
  'missed',
  'within',
  'overlap',
  'jitter',
  'paused',
] as const;
const TIMINGS = ['cron', 'at', 'every'] as const;
const ACTIONS = ['say', 'command', 'agent', 'item'] as const;
const TO_COME: Readonly<Record<string, string>> = {
  agent: 'is not there yet: this version of svc has no agents; use say, command or item',
};

type Entry = Readonly<Record<string, unknown>>;

/** The job of an entry; undefined if `report` was called. Whether a cron pattern can be read is not checked here. */
export function readJob(value: unknown, path: string, report: (finding: Finding) => void): Job | undefined {
  let isFaulty = false;
  const rules = new Rules((finding) => {
    isFaulty = true;
    report(finding);
  });
  const job = rules.job(value, path);
  return isFaulty ? undefined : job;
}

class Rules {
  readonly #report: (finding: Finding) => void;

  constructor(report: (finding: Finding) => void) {
    this.#report = report;
  }

  job(value: unknown, path: string): Job | undefined {
    const entry = this.#object(value, path, JOB_KEYS);
    if (entry === undefined) return undefined;
    const id = this.#text(entry, 'id', { path });
    if (id !== undefined && !JOB_ID.test(id)) this.#fault(path, 'id', `must be of ${ID_SHAPE}`);
    const timing = this.#timing(entry, path);
    const action = this.#action(entry['do'], pointerTo(path, 'do'));
    const missed = this.#word(entry, { key: 'missed', path, words: MISSED }) ?? 'run_once';
    const overlap = this.#word(entry, { key: 'overlap', path, words: OVERLAP }) ?? 'skip';
    if (missed === 'run_all' && overlap === 'skip')
      this.#fault(
        path,
        'missed',
        'run_all needs "overlap": "queue" or "allow", else all but the first would be skipped',
      );
    const withinMs = this.#duration(entry, {
      key: 'within',
      path,
      least: MINUTE_MS,
      most: 31 * DAY_MS,
      bounds: '1m to 31d',
    });
    const jitterMs = this.#jitter(entry, path, timing);
    const title = this.#text(entry, 'title', { path, isOptional: true });
    if (title !== undefined && title.length > LONGEST_TITLE)
      this.#fault(path, 'title', `must have at most ${LONGEST_TITLE} characters`);
    const paused = entry['paused'] ?? false;
    if (typeof paused !== 'boolean') this.#fault(path, 'paused', 'must be true or false');
    if (id === undefined || timing === undefined || action === undefined) return undefined;
    return {
      id,
      timing,
      action,
      missed,
      withinMs: withinMs ?? HOUR_MS,
      overlap,
      jitterMs,
      paused: paused === true,
      title,
      entry,
    };
  }

  #timing(entry: Entry, path: string): JobTiming | undefined {
    const given = TIMINGS.filter((key) => entry[key] !== undefined);
    const [kind] = given;
    if (kind === undefined || given.length > 1) {
      const message =
        kind === undefined ? 'needs one of cron, at and every' : `has ${given.join(' and ')}: one of them`;
      this.#report({ path: kind === undefined ? path : pointerTo(path, given.at(-1) ?? ''), message });
      return undefined;
    }
    if (kind !== 'every' && entry['from'] !== undefined) this.#fault(path, 'from', 'belongs to every');
    if (kind === 'every') return this.#every(entry, path);
    const timezone = this.#timezone(entry, path);
    const text = this.#text(entry, kind, { path });
    if (text === undefined) return undefined;
    if (kind === 'cron') return { kind, pattern: text, timezone };
    if (isAt(text)) return { kind, text, timezone };
    return this.#fault(
      path,
      'at',
      'must be a time such as 2027-02-01T09:00, or with Z or an offset, on a day that exists',
    );
  }

  #every(entry: Entry, path: string): JobTiming | undefined {
    if (entry['timezone'] !== undefined)
      this.#fault(path, 'timezone', 'has no meaning beside every, which counts real time');
    const bounds = '10s to 366d';
    const everyMs = this.#duration(entry, { key: 'every', path, least: 10 * SECOND_MS, most: 366 * DAY_MS, bounds });
    const from = this.#text(entry, 'from', { path, isOptional: true });
    const isWithOffset = from === undefined || (isAt(from) && /(Z|[+-]\d{2}:\d{2})$/.test(from));
    if (!isWithOffset) this.#fault(path, 'from', 'must be a time with Z or an offset, such as 2026-12-01T00:00Z');
    if (everyMs === undefined || !isWithOffset) return undefined;
    return { kind: 'every', everyMs, fromMs: from === undefined ? 0 : Date.parse(from) };
  }

  #timezone(entry: Entry, path: string): string | undefined {
    const name = this.#text(entry, 'timezone', { path, isOptional: true });
    if (name === undefined || isKnownZone(name)) return name;
    const near = nearestZone(name);
    const message = 'must be an IANA name of a time zone, such as Europe/Berlin';
    this.#report({ path: pointerTo(path, 'timezone'), message, ...(near === undefined ? {} : { suggestion: near }) });
    return undefined;
  }

  #action(value: unknown, path: string): JobAction | undefined {
    const actions = this.#object(value, path, ACTIONS);
    if (actions === undefined) return undefined;
    const given = ACTIONS.filter((key) => actions[key] !== undefined);
    const [kind] = given;
    if (kind === undefined || given.length > 1) {
      this.#report({
        path,
        message: kind === undefined ? 'needs one of say, command and item' : `has ${given.join(' and ')}: one of them`,
      });
      return undefined;
    }
    const inner = pointerTo(path, kind);
    if (kind === 'agent') {
      this.#report({ path: inner, message: TO_COME[kind] ?? '' });
      return undefined;
    }
    if (kind === 'item') return this.#item(actions[kind], inner);
    return kind === 'say' ? this.#say(actions[kind], inner) : this.#command(actions[kind], inner);
  }

  #say(value: unknown, path: string): JobAction | undefined {
    const say = this.#object(value, path, ['to', 'text']);
    if (say === undefined) return undefined;
    const to = this.#place(say['to'], pointerTo(path, 'to'));
    const text = this.#text(say, 'text', { path });
    return to === undefined || text === undefined ? undefined : { kind: 'say', to, text };
  }

  #command(value: unknown, path: string): JobAction | undefined {
    const command = this.#object(value, path, ['in', 'line']);
    if (command === undefined) return undefined;
    const place = this.#place(command['in'], pointerTo(path, 'in'));
    const line = this.#text(command, 'line', { path });
    if (line !== undefined && /[\r\n]/.test(line)) this.#fault(path, 'line', 'must be one line');
    return place === undefined || line === undefined ? undefined : { kind: 'command', in: place, line };
  }

  #item(value: unknown, path: string): JobAction | undefined {
    const item = this.#object(value, path, ['board', 'title', 'assign', 'due']);
    if (item === undefined) return undefined;
    const board = this.#text(item, 'board', { path });
    if (board !== undefined && !BOARD_ID.test(board))
      this.#fault(path, 'board', 'must be the id of a board: a-z and digits, at most 16, a letter first');
    const title = this.#text(item, 'title', { path });
    if (title !== undefined && Buffer.byteLength(title) > LARGEST_ITEM_TITLE_BYTES)
      this.#fault(path, 'title', `must have at most ${LARGEST_ITEM_TITLE_BYTES} bytes`);
    const assign = this.#text(item, 'assign', { path, isOptional: true });
    if (assign !== undefined && !MEMBER_ID.test(assign))
      this.#fault(path, 'assign', 'must be the id of a member: a-z, digits and "-", at most 32, a letter first');
    const bounds = '1m to 366d';
    const dueMs = this.#duration(item, { key: 'due', path, least: MINUTE_MS, most: 366 * DAY_MS, bounds });
    return board === undefined || title === undefined ? undefined : { kind: 'item', board, title, assign, dueMs };
  }

  #place(value: unknown, path: string): JobPlace | undefined {
    const place = this.#object(value, path, ['endpoint', 'conversation', 'thread']);
    if (place === undefined) return undefined;
    const endpoint = this.#text(place, 'endpoint', { path });
    const conversation = this.#text(place, 'conversation', { path });
    const thread = this.#text(place, 'thread', { path, isOptional: true });
    if (endpoint === undefined || conversation === undefined) return undefined;
    return { endpoint, conversation, ...(thread === undefined ? {} : { thread }) };
  }

  #jitter(entry: Entry, path: string, timing: JobTiming | undefined): number {
    const jitterMs = this.#duration(entry, { key: 'jitter', path, least: 0, most: HOUR_MS, bounds: '0s to 1h' }) ?? 0;
    if (timing?.kind === 'every' && jitterMs > timing.everyMs / 2)
      this.#fault(path, 'jitter', 'must be at most half of every');
    return jitterMs;
  }

  #duration(
    entry: Entry,
    { key, path, least, most, bounds }: { key: string; path: string; least: number; most: number; bounds: string },
  ): number | undefined {
    const value = entry[key];
    if (value === undefined) return undefined;
    const ms = typeof value === 'string' ? readDuration(value) : undefined;
    if (ms !== undefined && ms >= least && ms <= most) return ms;
    return this.#fault(path, key, `must be a duration of ${bounds}, such as 15m or 1h30m`);
  }

  #word<W extends string>(
    entry: Entry,
    { key, path, words }: { readonly key: string; readonly path: string; readonly words: readonly W[] },
  ): W | undefined {
    const value = entry[key];
    const found = words.find((word) => word === value);
    if (value === undefined || found !== undefined) return found;
    const near = typeof value === 'string' ? nearest(value, words) : undefined;
    const message = `must be one of ${words.join(', ')}`;
    this.#report({ path: pointerTo(path, key), message, ...(near === undefined ? {} : { suggestion: near }) });
    return undefined;
  }

  #text(
    entry: Entry,
    key: string,
    { path, isOptional = false }: { readonly path: string; readonly isOptional?: boolean },
  ): string | undefined {
    const value = entry[key];
    if (value === undefined && isOptional) return undefined;
    if (value === undefined) return this.#missing(path, key);
    if (typeof value !== 'string' || value.trim() === '')
      return this.#fault(path, key, 'must be a text that is not empty');
    if (Buffer.byteLength(value) > LARGEST_TEXT_BYTES)
      return this.#fault(path, key, `must have at most ${LARGEST_TEXT_BYTES} bytes`);
    return value;
  }

  #object(value: unknown, path: string, keys: readonly string[]): Entry | undefined {
    if (value === undefined)
      return this.#missing(path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#report({ path, message: 'must be an object' });
      return undefined;
    }
    reportUnknownKeys(value as Entry, { path, keys }, this.#report);
    return value as Entry;
  }

  #missing(path: string, key: string): undefined {
    this.#report({ path, message: `needs the key ${key}` });
  }

  #fault(path: string, key: string, message: string): undefined {
    this.#report({ path: pointerTo(path, key), message });
  }
}

/** Keys that begin with `x-` are the operator's own. */
export function reportUnknownKeys(
  value: Entry,
  { path, keys }: { readonly path: string; readonly keys: readonly string[] },
  report: (finding: Finding) => void,
): void {
  for (const key of Object.keys(value)) {
    if (keys.includes(key) || key.startsWith('x-')) continue;
    const near = nearest(key, keys);
    const message =
      near === undefined ? `is not a key here: there are ${keys.join(', ')}, and x-…` : 'is not a key here';
    report({ path: pointerTo(path, key), message, ...(near === undefined ? {} : { suggestion: near }) });
  }
}

const zones = new Map<string, boolean>();

/** A look at a zone takes long, and 1,000 jobs name few of them. */
function isKnownZone(name: string): boolean {
  let known = zones.get(name);
  if (known === undefined) {
    known = isZone(name);
    if (zones.size < 1_000) zones.set(name, known);
  }
  return known;
}
