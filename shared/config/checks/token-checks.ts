// Rules for tokens, so that no host is open by mistake.
//
//   TOKEN-1  The full token is set, is not empty, is not the example value and contains no `${`.
//   TOKEN-2  No two tokens are equal, and none equals a plugin's secret (such as a webhook's).
//   TOKEN-3  A token under 16 characters is a warning on loopback and a fault on any other address.
//   TOKEN-4  With `--once --mode test` nothing is served, so each of these faults is only a warning.
//   TOKEN-5  Two tokens with one name are always a fault, because names are in the file and not in variables.

import { isBearerToken, LONGEST_TOKEN } from '../../bearer-token.ts';
import { isLoopback } from '../../ip-address.ts';
import { valueAt } from '../explain.ts';
import { dotted, type Finding, printable } from '../fault.ts';
import type { ResolvedReference } from '../resolve.ts';
import type { CheckResult } from './cross-checks.ts';
import { listAt, textAt } from './cross-checks.ts';

/** Value in `.env.example`. It is never accepted. */
export const EXAMPLE_TOKEN = 'replace-me';

const SHORTEST_TOKEN = 16;
const RESERVED_NAMES = ['full', 'demo'];

export function tokenChecks(
  tree: unknown,
  references: ReadonlyMap<string, ResolvedReference>,
  lenient: boolean,
): CheckResult {
  const tokens = tokensOf(tree);
  const faults = [...tokens.flatMap(weak), ...equals(tokens), ...pluginSecrets(tree, references, tokens)];
  const short = tokens
    .filter(({ text }) => text.length > 0 && text.length < SHORTEST_TOKEN && text !== EXAMPLE_TOKEN)
    .map(tooShort);
  const open = !isLoopback(textAt(tree, '/http/host') ?? '127.0.0.1');
  const findings = open ? [...faults, ...short] : faults;
  return lenient
    ? { findings: names(tree), warnings: [...faults, ...short] }
    : { findings: [...findings, ...names(tree)], warnings: open ? [] : short };
}

interface FoundToken {
  readonly path: string;
  readonly text: string;
}

function tokensOf(tree: unknown): FoundToken[] {
  const paths = [
    '/http/token',
    '/http/demoToken',
    ...listAt(tree, '/http/tokens').map((_, index) => `/http/tokens/${index}/token`),
  ];
  return paths.flatMap((path) => {
    const text = textAt(tree, path);
    return text === undefined ? [] : [{ path, text }];
  });
}

function weak({ path, text }: FoundToken): Finding[] {
  const fault = (message: string): Finding[] => [{ path, message, secret: true }];
  if (text.trim() === '') return fault('is empty; a variable that the process has as empty wins over .env');
  if (text.toLowerCase().startsWith(EXAMPLE_TOKEN) || /^(change-?me|example|token|secret|password)$/i.test(text))
    return fault('is still the example value; make one with `svc token create`');
  if (text.includes('${')) return fault('still holds ${: the variable was not resolved where it was written');
  if (!isBearerToken(text))
    return fault(
      `must be letters, digits and any of . _ ~ + / - with = at the end alone, ${LONGEST_TOKEN} characters at most: others cannot be sent after Bearer`,
    );
  return [];
}

const tooShort = ({ path }: FoundToken): Finding => ({
  path,
  message: `must have at least ${SHORTEST_TOKEN} characters; make one with \`svc token create\``,
  secret: true,
});

function equals(tokens: readonly FoundToken[]): Finding[] {
  const first = new Map<string, string>();
  return tokens.flatMap(({ path, text }) => {
    const other = first.get(text);
    if (other === undefined) first.set(text, path);
    return other === undefined || text === ''
      ? []
      : [{ path, message: `must differ from ${dotted(other)}`, secret: true }];
  });
}

function pluginSecrets(
  tree: unknown,
  references: ReadonlyMap<string, ResolvedReference>,
  tokens: readonly FoundToken[],
): Finding[] {
  const owners = new Map(tokens.filter(({ text }) => text !== '').map(({ path, text }) => [text, path]));
  return [...references.keys()].flatMap((path) => {
    if (!path.startsWith('/plugins/')) return [];
    const value = valueAt(tree, path);
    const owner = typeof value === 'string' ? owners.get(value) : undefined;
    return owner === undefined
      ? []
      : [
          {
            path,
            message: `must differ from ${dotted(owner)}: a token of the host is no secret of a plugin`,
            secret: true,
          },
        ];
  });
}

function names(tree: unknown): Finding[] {
  const seen = new Set<string>(RESERVED_NAMES);
  return listAt(tree, '/http/tokens').flatMap((entry, index) => {
    const name = textAt(entry, '/name');
    if (name === undefined) return [];
    const taken = seen.has(name);
    seen.add(name);
    const message = RESERVED_NAMES.includes(name)
      ? `${name} is the name of a token of its own`
      : `${printable(name)} is the name of another token`;
    return taken ? [{ path: `/http/tokens/${index}/name`, message }] : [];
  });
}
