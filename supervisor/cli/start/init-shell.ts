// A shell as the first process of a container: it runs the command that was to be it as a child, hands signals down, reaps whatever is left to a first
// process, and ends as the command does. Node itself cannot be one: it waits for no process that it did not start. Pure.
//
//   F1  A signal is handed down once, also one that comes before the child is there. SIGUSR2 and SIGQUIT stay what they are to a first process: nothing.
//   F2  The code of the child is that of the container, 128 and the number of the signal where one ended it. Only a stop that came before the child
//       could hear of it is 0: for a runtime that is the stop that was asked for.
//   F3  `wait` reaps all that a shell is left with; a signal that comes meanwhile ends it with a code that is none of the child.
//   F4  bash is none for this (measured, 5.2): a signal that comes just before its `wait` is handed down with the next one alone, and the code of a child
//       that ends with a signal may get lost. dash and busybox look for signals and wait in one step.

/** Ends with 51 in a shell that can be the first process (F4). */
export const PROBE_SCRIPT = 'trap : TERM && wait && [ -z "$BASH_VERSION$KSH_VERSION$ZSH_VERSION" ] && exit 51';

/** Run as `sh -c SCRIPT svc COMMAND…`. What the background takes from a child (its input) is given back. */
export const INIT_SCRIPT = `stop= child=
pass() { heard=1; [ -z "$child" ] || kill -s "$1" "$child" 2>/dev/null; }
trap 'stop=TERM; pass TERM' TERM
trap 'stop=INT; pass INT' INT
trap 'stop=HUP; pass HUP' HUP
trap 'pass USR1' USR1
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&-
[ -z "$stop" ] || kill -s "$stop" "$child" 2>/dev/null
while :; do
  heard=
  wait "$child"
  code=$?
  [ "$code" = 127 ] || ended=$code
  [ -n "$heard" ] || break
done
case $stop$ended in TERM143 | INT130 | HUP129) exit 0 ;; esac
exit "\${ended:-127}"`;

export interface FirstProcess {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** One of its streams is a terminal. */
  readonly terminal: boolean;
}

/** What a shell hands on; it drops variables of other names. */
const SHELL_NAME = /^[A-Za-z_]\w*$/;

/**
 * Whether a start should get such a shell. Not on a terminal, whose Ctrl-C reaches the whole group: the child would have it twice, which is
 * the end at once. Not where an owner has named this very process for its sockets or its watchdog, and not where the shell would lose a variable.
 */
export const wantsInitShell = ({ pid, argv, environment, terminal }: FirstProcess): boolean =>
  pid === 1 &&
  argv.includes('start') &&
  !terminal &&
  environment['LISTEN_PID'] === undefined &&
  environment['WATCHDOG_PID'] === undefined &&
  Object.keys(environment).every((name) => SHELL_NAME.test(name));
