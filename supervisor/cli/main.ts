// The command `svc`: noun and verb → one lazily loaded file → exit code. Nothing else is loaded for a short answer.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { ERRORS } from '../../shared/error-codes.ts';
import { EXIT, type ExitCode } from '../../shared/process/exit-codes.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import { COMMIT, VERSION } from '../../shared/version.ts';
import type { CommandContext, HostClient } from './command.ts';
import { COMMANDS, type CommandEntry, loadCommand, nouns, verbsOf } from './commands.ts';
import { printable, printableJson } from './output/printable.ts';
import { createPrinter } from './output/printer.ts';
import { unknownWord } from './output/usage-error.ts';
import { findProject, workingFolder } from './project-lookup.ts';

/** As they are before code of the project may be loaded. */
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
  return command.run(contextOf(call, options), args, options);
}

/** What every command takes may also stand before it: `svc --project DIR runtime status`. */
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
  if (ofNoun.length === 0) throw unknownWord('command', noun, nouns());
  const alone = ofNoun.find((command) => command.verb === undefined);
  if (alone !== undefined) return alone;
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
  const env = { ...process.env }; // a copy: secrets are taken out of that of the process
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
    // To look at stdin opens it: 2 ms that a start has no use for.
    get interactive() {
      return process.stdin.isTTY && process.stdout.isTTY && !json;
    },
    // Only a command that asks for it takes Ctrl-C over: the first ends it in order, the second at once.
    get signal() {
      if (interrupt === undefined) {
        const controller = new AbortController();
        process.once('SIGINT', () => {
          controller.abort();
          process.once('SIGINT', () => end(EXIT.forced));
        });
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
      closeSync(process.stderr.fd); // Node says there that it waits for a debugger, which is our own: worker/runtime/loading/busy-code.ts
      return end(code);
    },
  };
}

/** One line what, one line what to do; with --json one document on stdout. */
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
/** What the command came to, while its output may still turn out to be lost. */
let outcome: ExitCode = EXIT.ok;

function end(code: ExitCode): never {
  isEnding = true;
  if (process.listenerCount('SIGHUP') > 0) leaveGoneTerminal();
  return exit(code);
}

/**
 * Node aborts (seen on 20) where it sets a terminal back that has hung up; what stands in its place it leaves alone. The number stays taken:
 * a file that another thread opens under it would end the process as well.
 */
function leaveGoneTerminal(): void {
  const { isatty } = process.getBuiltinModule('node:tty'); // no start has to load it
  for (const fd of [0, 1, 2]) {
    try {
      const is = fstatSync(fd);
      if (!is.isCharacterDevice() || isatty(fd) || is.rdev === statSync('/dev/null').rdev) continue;
      closeSync(fd);
      openSync('/dev/null', 'r+');
    } catch {} // closed already
  }
}

async function main(): Promise<void> {
  process.stdout.on('error', endWithoutOutput);
  process.stderr.on('error', () => {}); // notes alone: what is asked for is done without them
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
  await new Promise((resolve) => write('', resolve)); // a write that has failed tells a turn later
  end(outcome);
}

/** A reader that has seen enough, or a terminal that is closed, is no fault; a full disk is, or scripts would go on with half a file. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE' || process.stdout.isTTY) return end(outcome);
  process.stderr.write(`svc: the output could not be written: ${error.message}\n`);
  return end(outcome === EXIT.ok ? EXIT.failed : outcome);
}

void main(); // ends the process itself
