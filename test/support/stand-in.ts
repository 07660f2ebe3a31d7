// A program that stands in for one of the machine (systemctl, launchctl): it writes down how it was called and answers from files of the test.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface StandIn {
  /** To be put before the rest of PATH. */
  readonly folder: string;
  /** Command lines since the last look, without the program's path. */
  calls(): readonly string[];
  /** What the program prints and how it ends when its arguments begin so. Default: nothing, and 0. */
  answer(words: string, answer: { readonly code?: number; readonly stdout?: string; readonly stderr?: string }): void;
}

/** Programs of these names in a folder below `root`. */
export function standIn(root: string, names: readonly string[]): StandIn {
  const folder = join(root, 'stand-in');
  const record = join(folder, 'calls.txt');
  const answers = join(folder, 'answers');
  mkdirSync(answers, { recursive: true });
  let seen = 0;
  // The longest prefix of the arguments that has an answer wins.
  const script = `#!/bin/sh
printf '%s %s\\n' "\${0##*/}" "$*" >>'${record}'
words="\${0##*/} $*"
while [ -n "$words" ]; do
  at='${answers}'/"$(printf '%s' "$words" | tr ' /' '__')"
  if [ -e "$at.code" ]; then cat "$at.out"; cat "$at.err" >&2; exit "$(cat "$at.code")"; fi
  case "$words" in *' '*) words="\${words% *}" ;; *) words='' ;; esac
done
`;
  for (const name of names) {
    writeFileSync(join(folder, name), script);
    chmodSync(join(folder, name), 0o755);
  }
  return {
    folder,
    calls() {
      const text = existsSync(record) ? readFileSync(record, 'utf8').slice(seen) : '';
      seen += text.length;
      return text.split('\n').filter((line) => line !== '');
    },
    answer(words, { code = 0, stdout = '', stderr = '' }) {
      const at = join(answers, words.replaceAll(/[ /]/g, '_'));
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(`${at}.out`, stdout);
      writeFileSync(`${at}.err`, stderr);
      writeFileSync(`${at}.code`, String(code));
    },
  };
}
