// Shell completion scripts, made from the table of commands: nouns, verbs, then the command's options.
import { COMMANDS, loadCommand, nouns, verbsOf } from '../commands.ts';
import { namesOf, SHARED_OPTIONS, wordsOf } from '../program.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface Words {
  readonly noun: string;
  readonly verb: string | undefined;
  readonly summary: string;
  readonly options: readonly string[];
}

export async function completionScript(shell: Shell): Promise<string> {
  const shared = SHARED_OPTIONS.flatMap(({ flags }) => namesOf(flags));
  const words: Words[] = [];
  for (const entry of COMMANDS) {
    const command = await loadCommand(entry);
    const options = (command.options ?? []).flatMap(({ flags }) => namesOf(flags));
    words.push({
      noun: entry.noun,
      verb: entry.verb,
      summary: entry.summary,
      options: [...new Set([...options, ...shared])],
    });
  }
  switch (shell) {
    case 'bash':
      return bash(words);
    case 'zsh':
      return `#compdef svc\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`;
    case 'fish':
      return fish(words);
  }
}

function bash(words: readonly Words[]): string {
  const verbs = nouns()
    .filter((noun) => verbsOf(noun).length > 0)
    .map((noun) => `    ${noun}) verbs="${verbsOf(noun).join(' ')}" ;;`);
  const options = words.map((word) => `    "${wordsOf(asCommand(word))}") options="${word.options.join(' ')}" ;;`);
  return `# completions of svc for bash
_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" noun="\${COMP_WORDS[1]}" verb="\${COMP_WORDS[2]}" verbs="" options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${nouns().join(' ')} --help --version" -- "$current"))
    return
  fi
  case "$noun" in
${verbs.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ]; then
    COMPREPLY=($(compgen -W "$verbs --help" -- "$current"))
    return
  fi
  if [ -z "$verbs" ]; then verb=""; fi
  case "$verb" in -*) verb="" ;; esac
  case "$noun\${verb:+ }$verb" in
${options.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -F _svc svc
`;
}

function fish(words: readonly Words[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
  const lines = nouns().map(
    (noun) =>
      `complete -c svc -n __fish_use_subcommand -f -a ${noun} -d ${quoted(words.find((word) => word.noun === noun && word.verb === undefined)?.summary ?? verbsOf(noun).join(', '))}`,
  );
  for (const { noun, verb, summary, options } of words) {
    const here =
      verb === undefined
        ? `__fish_seen_subcommand_from ${noun}`
        : `__fish_seen_subcommand_from ${noun}; and __fish_seen_subcommand_from ${verb}`;
    if (verb !== undefined)
      lines.push(
        `complete -c svc -n '__fish_seen_subcommand_from ${noun}; and not __fish_seen_subcommand_from ${verbsOf(noun).join(' ')}' -f -a ${verb} -d ${quoted(summary)}`,
      );
    for (const option of options)
      lines.push(
        `complete -c svc -n '${here}' ${option.startsWith('--') ? `-l ${option.slice(2)}` : `-s ${option.slice(1)}`}`,
      );
  }
  return `# completions of svc for fish\n${lines.join('\n')}\n`;
}

const asCommand = ({ noun, verb }: Words): { readonly noun: string; readonly verb?: string } =>
  verb === undefined ? { noun } : { noun, verb };
