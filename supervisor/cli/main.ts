// The command `svc`: maps noun and verb to a lazily loaded file and returns its exit code. A short answer loads little code.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { ERRORS } from '../../shared/error-codes.ts';
import { EXIT, type ExitCode } from '../../shared/process/exit-codes.ts';
import { hangupIgnoredHere } from '../../shared/process/hangup.ts';
import { listenToInterrupts } from '../../shared/process/interrupts.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import { COMMIT, VERSION } from '../../shared/version.ts';
import type { CommandContext, HostClient } from './command.ts';
import { COMMANDS, type CommandEntry, loadCommand, nouns, verbsOf } from './commands.ts';
import { printable, printableJson } from './output/printable.ts';
import { createPrinter } from './output/printer.ts';
import { unknownCommand, unknownWord } from './output/usage-error.ts';
import { findProject, workingFolder } from './project-lookup.ts';

/** Saved before project code is loaded, which may replace them. */
const exit: (code: ExitCode) => never = process.exit.bind(process);
const write = process.stdout.write.bind(process.stdout);

interface Call {
  readonly argv: readonly string[];
  readonly json: boolean;
  readonly debug: boolean;
}

const SHARED_FLAGS: ReadonlySet<string> = new Set(['--json', '--no-color', '--debug']);

async function run(call: Call): Promise<ExitCode> {
  const { argv, json } = call;
  const [first, second] = argv;
  if (
    first === undefined ||
    first === '--help' ||
    first === '-h' ||
    SHARED_FLAGS.has(first) ||
    (first === 'help' && (second === undefined || second.startsWith('-')))
  )
    return help([], json);
  if (first === '--version' || first === '-v' || first === '-V') return version(json);
  if (first === 'help' && !verbsOf('help').includes(second ?? ''))
    return help(
      argv.slice(1).filter((word) => !word.startsWith('-')),
      json,
    );
  if (first.startsWith('-')) throw unknownWord('option', first, ['--help', '--version', ...nouns()]);
  const found = findCommand(argv);
  if (found === 'help') return help([first], json);
  const rest = argv.slice(found.verb === undefined ? 1 : 2);
  if (isHelpAsked(rest)) return help([first, ...(found.verb === undefined ? [] : [found.verb])], json);
  const command = await loadCommand(found);
  const { parseCommand } = await import('./program.ts');
  const { args, options } = parseCommand(command, rest);
  const context = contextOf(call, options);
  if (command.writesState === true) {
    const { refuseOtherUser } = await import('./other-user.ts');
    refuseOtherUser(context.project());
  }
  return command.run(context, args, options);
}

/** Options shared by all commands may also come first: `svc --project DIR runtime status`. */
function sharedOptionsLast(argv: readonly string[]): readonly string[] {
  let count = 0;
  while (count < argv.length) {
    const word = argv[count] ?? '';
    if (SHARED_FLAGS.has(word) || word.startsWith('--project=')) count += 1;
    else if (word === '--project' && count + 1 < argv.length) count += 2;
    else break;
  }
  const words = argv.slice(count);
  const end = words.indexOf('--');
  const at = end === -1 ? words.length : end;
  return [...words.slice(0, at), ...argv.slice(0, count), ...words.slice(at)];
}

/** Throws `usage` with the nearest word. */
function findCommand([noun = '', verb]: readonly string[]): CommandEntry | 'help' {
  const ofNoun = COMMANDS.filter((command) => command.noun === noun);
  if (ofNoun.length === 0) throw unknownCommand(noun, COMMANDS);
  const alone = ofNoun.find((command) => command.verb === undefined);
  if (alone !== undefined && (ofNoun.length === 1 || verb === undefined || verb.startsWith('-'))) return alone;
  if (verb === '--help' || verb === '-h') return 'help';
  if (verb === undefined || verb.startsWith('-'))
    throw new SvcError('usage', `svc ${noun} needs one of ${verbsOf(noun).join(', ')}`);
  const command = ofNoun.find((candidate) => candidate.verb === verb);
  if (command === undefined) throw unknownWord(`command after svc ${noun}:`, verb, verbsOf(noun));
  return command;
}

function isHelpAsked(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  return words.includes('--help') || words.includes('-h');
}

async function help(words: readonly string[], json: boolean): Promise<ExitCode> {
  const { helpDocument, helpText } = await import('./output/help-text.ts');
  process.stdout.write(json ? `${JSON.stringify(await helpDocument(words), null, 2)}\n` : await helpText(words));
  return EXIT.ok;
}

function version(json: boolean): ExitCode {
  const facts = {
    version: VERSION,
    commit: COMMIT,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  };
  process.stdout.write(json ? `${JSON.stringify(facts)}\n` : `svc ${VERSION}\n`);
  return EXIT.ok;
}

function contextOf(call: Call, options: Readonly<Record<string, unknown>>): CommandContext {
  const json = options['json'] === true;
  const env = { ...process.env }; // a copy, because secrets are removed from process.env later
  const print = createPrinter({
    json,
    env,
    plain: options['color'] === false,
    stdout: process.stdout,
    stderr: process.stderr,
  });
  let interrupt: AbortController | undefined;
  let found: string | undefined;
  let connect: (() => Promise<HostClient>) | undefined;
  const given = options['project'] === undefined ? undefined : String(options['project']);
  const project: CommandContext['project'] = (isOneToo) => (found ??= findProject(workingFolder, given, isOneToo));
  return {
    json,
    env,
    get cwd() {
      return workingFolder();
    },
    // A getter, because reading stdin opens it: 2 ms that a start can save.
    get interactive() {
      return process.stdin.isTTY && process.stdout.isTTY && !json;
    },
    // Ctrl-C is handled only for a command that uses the signal. The first ends it gracefully, the second at once.
    get signal() {
      if (interrupt === undefined) {
        const controller = new AbortController();
        listenToInterrupts({ first: () => controller.abort(), again: () => end(EXIT.forced) });
        if (hangupIgnoredHere(env)) process.on('SIGHUP', () => {});
        interrupt = controller;
      }
      return interrupt.signal;
    },
    project,
    print,
    async host() {
      const { hostConnector } = await import('./connect/host-client.ts');
      connect ??= hostConnector({ project: project(), env, note: print.note });
      return connect();
    },
    end(error) {
      const code = fail(error, call);
      closeSync(process.stderr.fd); // Node prints there that it waits for a debugger, which svc itself uses to interrupt blocked plugin code
      return end(code);
    },
  };
}

/** Prints one line for the error and one for the advice. With --json it prints one document on stdout. */
function fail(error: unknown, { json, debug }: Call): ExitCode {
  const known = coerceError(error);
  const { code, message, hint, details } = known;
  if (json)
    write(
      `${printableJson(JSON.stringify({ error: { code, message, ...(hint === undefined ? {} : { hint }), ...(Object.keys(details).length === 0 ? {} : { details }) } }, null, 2))}\n`,
    );
  else process.stderr.write(`${printable(`svc: ${message}${hint === undefined ? '' : `\n     ${hint}`}`)}\n`);
  if (debug || code === 'internal')
    process.stderr.write(`${printable(error instanceof Error ? (error.stack ?? '') : String(error))}\n`);
  return ERRORS[code].exit;
}

let isEnding = false;
/** Exit code of the command, as long as its output may still fail. */
let outcome: ExitCode = EXIT.ok;

function end(code: ExitCode): never {
  isEnding = true;
  if (process.listenerCount('SIGHUP') > 0) leaveGoneTerminal();
  return exit(code);
}

/**
 * Node 20 aborts at exit if it restores the settings of a terminal that has hung up. It ignores a replacement in the descriptor's place.
 * The descriptor number stays in use: a file opened under it by another thread would end the process as well.
 */
function leaveGoneTerminal(): void {
  const { isatty } = process.getBuiltinModule('node:tty'); // loaded here, so that no start needs it
  for (const fd of [0, 1, 2]) {
    try {
      const is = fstatSync(fd);
      if (!is.isCharacterDevice() || isatty(fd) || is.rdev === statSync('/dev/null').rdev) continue;
      closeSync(fd);
      openSync('/dev/null', 'r+');
    } catch {} // already closed
  }
}

async function main(): Promise<void> {
  process.stdout.on('error', endWithoutOutput);
  process.stderr.on('error', () => {}); // notes only: the command works without them
  const argv = sharedOptionsLast(process.argv.slice(2));
  const call = { argv, json: argv.includes('--json'), debug: argv.includes('--debug') };
  process.once('exit', () => {
    if (!isEnding) process.exitCode = fail(new SvcError('internal', 'the command waits for what nothing brings'), call);
  });
  try {
    outcome = await run(call);
  } catch (error) {
    outcome = fail(error, call);
  }
  await new Promise((resolve) => write('', resolve)); // a failed write is reported one turn later
  end(outcome);
}

/** A reader that closed the pipe or a closed terminal is no error. A full disk is one, since scripts would continue with half a file. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE' || process.stdout.isTTY) return end(outcome);
  process.stderr.write(`svc: the output could not be written: ${error.message}\n`);
  return end(outcome === EXIT.ok ? EXIT.failed : outcome);
}

void main(); // ends the process itself
