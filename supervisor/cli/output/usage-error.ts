// Usage errors: one line, plus the nearest valid word, or all valid words if none is near.
import { nearest } from '../../../shared/config/nearest.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** A word that is not valid here. */
export function unknownWord(kind: string, word: string, valid: readonly string[]): SvcError {
  const near = nearest(word, valid) ?? valid.find((candidate) => word.length > 1 && candidate.startsWith(word));
  return new SvcError(
    'usage',
    `unknown ${kind} '${shownWord(word)}'${near === undefined ? '' : `; did you mean '${near}'?`}`,
    {
      ...(near === undefined && valid.length > 0 ? { hint: `known are ${valid.join(', ')}` } : {}),
      details: near === undefined ? {} : { nearest: near },
    },
  );
}

const shownWord = (word: string): string => JSON.stringify(word.slice(0, 60)).slice(1, -1);

interface Words {
  readonly noun: string;
  readonly verb?: string;
}

/** What people type who know another tool. */
const ALIASES: Readonly<Record<string, string>> = {
  run: 'runtime start',
  serve: 'runtime start',
  up: 'runtime start',
  dev: 'runtime start',
  down: 'runtime stop',
  log: 'runtime logs',
  ps: 'runtime status',
  new: 'init',
  validate: 'config check',
  version: '--version',
};

/** A first word that is no noun: perhaps a verb without its noun, as in `svc start`. The runtime is meant before others. */
export function unknownCommand(word: string, commands: readonly Words[]): SvcError {
  const nouns = [...new Set(commands.map(({ noun }) => noun))];
  const near = nearest(word, nouns) === undefined ? verbNear(word, commands) : undefined;
  const meant = Object.hasOwn(ALIASES, word) ? [ALIASES[word] ?? ''] : withVerb(near, commands);
  if (meant.length === 0) return unknownWord('command', word, nouns);
  const [first, ...others] = meant.map((words) => `'svc ${words}'`);
  const more = others.length === 0 ? '' : `, or ${others.join(', ')}`;
  return new SvcError('usage', `unknown command '${shownWord(word)}'; did you mean ${first}${more}?`, {
    details: { nearest: meant[0] },
  });
}

const verbNear = (word: string, commands: readonly Words[]): string | undefined =>
  nearest(
    word,
    commands.flatMap(({ verb }) => (verb === undefined ? [] : [verb])),
  );

const withVerb = (verb: string | undefined, commands: readonly Words[]): readonly string[] =>
  commands
    .filter((command) => command.verb !== undefined && command.verb === verb)
    .toSorted((a, b) => Number(b.noun === 'runtime') - Number(a.noun === 'runtime'))
    .map(({ noun }) => `${noun} ${verb}`);
