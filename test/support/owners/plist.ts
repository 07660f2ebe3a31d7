// Property lists as tests need them: a strict parser of the XML form, and the keys that launchd knows with the form of each (launchd.plist(5)).

export type Plist = string | number | boolean | readonly Plist[] | Dictionary;
export interface Dictionary {
  readonly [key: string]: Plist;
}

const TOKEN = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!DOCTYPE[^>]*>|<(\/?)([A-Za-z]+)(?:\s[^>]*?)?(\/?)>|([^<]+)/g;

interface Tag {
  readonly name: string;
  readonly kind: 'open' | 'close' | 'empty' | 'text';
  readonly text: string;
}

/** Throws where the text is no property list. */
export function parsePlist(source: string): Plist {
  const tags: Tag[] = [];
  let end = 0;
  for (const match of source.matchAll(TOKEN)) {
    if (match.index !== end) throw new Error(`no markup at ${source.slice(end, end + 40)}`);
    end = match.index + match[0].length;
    const [, slash, name, empty, text] = match;
    if (name !== undefined)
      tags.push({ name, kind: slash === '/' ? 'close' : empty === '/' ? 'empty' : 'open', text: '' });
    else if (text !== undefined) tags.push({ name: '', kind: 'text', text });
  }
  if (end !== source.length) throw new Error('the text ends within markup');
  const reader = new Reader(tags);
  reader.take('open', 'plist');
  const value = reader.value();
  reader.take('close', 'plist');
  return value;
}

class Reader {
  readonly #tags: readonly Tag[];
  #at = 0;

  constructor(tags: readonly Tag[]) {
    this.#tags = tags;
  }

  take(kind: Tag['kind'], name: string): void {
    const tag = this.#next();
    if (tag.kind !== kind || tag.name !== name)
      throw new Error(`${kind} ${name} expected, not ${tag.kind} ${tag.name}`);
  }

  value(): Plist {
    const { kind, name } = this.#next();
    if (kind === 'empty' && (name === 'true' || name === 'false')) return name === 'true';
    if (kind !== 'open') throw new Error(`a value expected, not ${kind} ${name}`);
    switch (name) {
      case 'string':
        return this.#text(name);
      case 'integer':
        return wholeNumber(this.#text(name));
      case 'array':
        return this.#items();
      case 'dict':
        return this.#entries();
      default:
        throw new Error(`unknown element ${name}`);
    }
  }

  #items(): Plist[] {
    const items: Plist[] = [];
    while (!this.#closes('array')) items.push(this.value());
    return items;
  }

  #entries(): Dictionary {
    const entries: Record<string, Plist> = {};
    while (!this.#closes('dict')) {
      this.take('open', 'key');
      const key = this.#text('key');
      if (Object.hasOwn(entries, key)) throw new Error(`${key} is there twice`);
      entries[key] = this.value();
    }
    return entries;
  }

  #closes(name: string): boolean {
    const at = this.#at;
    const tag = this.#next();
    if (tag.kind === 'close' && tag.name === name) return true;
    this.#at = at;
    return false;
  }

  #text(name: string): string {
    const tag = this.#tags[this.#at];
    const text = tag?.kind === 'text' ? tag.text : '';
    if (tag?.kind === 'text') this.#at += 1;
    this.take('close', name);
    return unescaped(text);
  }

  /** The next element; blank text between elements is none. */
  #next(): Tag {
    const tag = this.#tags[this.#at];
    if (tag === undefined) throw new Error('the text ends too early');
    this.#at += 1;
    if (tag.kind !== 'text') return tag;
    if (tag.text.trim() !== '') throw new Error(`text between elements: ${tag.text.trim()}`);
    return this.#next();
  }
}

function wholeNumber(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new Error(`${text} is no integer`);
  return Number(text);
}

const unescaped = (text: string): string => {
  if (/&(?!amp;|lt;|gt;|quot;|apos;)/.test(text)) throw new Error(`a bare & in ${text}`);
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
};

type Form = 'string' | 'integer' | 'boolean' | 'strings' | 'texts by name' | 'integers by name' | 'keep alive' | 'any';

/** The keys of launchd.plist(5). */
const KEYS: Readonly<Record<string, Form>> = {
  Label: 'string',
  Disabled: 'boolean',
  UserName: 'string',
  GroupName: 'string',
  inetdCompatibility: 'any',
  LimitLoadToHosts: 'strings',
  LimitLoadFromHosts: 'strings',
  LimitLoadToSessionType: 'any',
  LimitLoadToHardware: 'any',
  LimitLoadFromHardware: 'any',
  Program: 'string',
  BundleProgram: 'string',
  ProgramArguments: 'strings',
  EnableGlobbing: 'boolean',
  EnableTransactions: 'boolean',
  EnablePressuredExit: 'boolean',
  OnDemand: 'boolean',
  ServiceIPC: 'boolean',
  KeepAlive: 'keep alive',
  RunAtLoad: 'boolean',
  RootDirectory: 'string',
  WorkingDirectory: 'string',
  EnvironmentVariables: 'texts by name',
  Umask: 'integer',
  TimeOut: 'integer',
  ExitTimeOut: 'integer',
  ThrottleInterval: 'integer',
  InitGroups: 'boolean',
  WatchPaths: 'strings',
  QueueDirectories: 'strings',
  StartOnMount: 'boolean',
  StartInterval: 'integer',
  StartCalendarInterval: 'any',
  StandardInPath: 'string',
  StandardOutPath: 'string',
  StandardErrorPath: 'string',
  Debug: 'boolean',
  WaitForDebugger: 'boolean',
  SoftResourceLimits: 'integers by name',
  HardResourceLimits: 'integers by name',
  Nice: 'integer',
  ProcessType: 'string',
  AbandonProcessGroup: 'boolean',
  LowPriorityIO: 'boolean',
  LowPriorityBackgroundIO: 'boolean',
  MaterializeDatalessFiles: 'boolean',
  LaunchOnlyOnce: 'boolean',
  MachServices: 'any',
  Sockets: 'any',
  LaunchEvents: 'any',
  HopefullyExitsLast: 'boolean',
  HopefullyExitsFirst: 'boolean',
  SessionCreate: 'boolean',
  LegacyTimers: 'boolean',
  AssociatedBundleIdentifiers: 'any',
  SandboxProfile: 'string',
};
const KEEP_ALIVE: Readonly<Record<string, Form>> = {
  SuccessfulExit: 'boolean',
  Crashed: 'boolean',
  NetworkState: 'boolean',
  PathState: 'any',
  OtherJobEnabled: 'any',
  AfterInitialDemand: 'boolean',
};
const PROCESS_TYPES = ['Background', 'Standard', 'Adaptive', 'Interactive'];

/** What launchd would not understand of an agent; empty when all is well. launchd itself ignores a key that it does not know, without a word. */
export function launchdFaults(agent: Plist): string[] {
  if (!isDictionary(agent)) return ['not a dictionary'];
  return [
    ...['Label', 'ProgramArguments'].filter((key) => agent[key] === undefined).map((key) => `${key} is missing`),
    ...formFaults(agent, KEYS),
    ...(isDictionary(agent['KeepAlive'] ?? false) ? formFaults(agent['KeepAlive'] as Dictionary, KEEP_ALIVE) : []),
    ...(agent['ProcessType'] === undefined || PROCESS_TYPES.includes(String(agent['ProcessType']))
      ? []
      : ['ProcessType is none']),
  ];
}

const formFaults = (dictionary: Dictionary, known: Readonly<Record<string, Form>>): string[] =>
  Object.entries(dictionary).flatMap(([key, value]) => {
    const form = known[key];
    if (form === undefined) return [`${key} is no key of launchd`];
    return hasForm(value, form) ? [] : [`${key} is not of the form ${form}`];
  });

function hasForm(value: Plist, form: Form): boolean {
  switch (form) {
    case 'string':
    case 'boolean':
      return typeof value === form;
    case 'integer':
      return typeof value === 'number';
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'texts by name':
      return isDictionary(value) && Object.values(value).every((item) => typeof item === 'string');
    case 'integers by name':
      return isDictionary(value) && Object.values(value).every((item) => typeof item === 'number');
    case 'keep alive':
      return typeof value === 'boolean' || isDictionary(value);
    case 'any':
      return true;
  }
}

const isDictionary = (value: Plist): value is Dictionary => typeof value === 'object' && !Array.isArray(value);
