// A shell as the first process (pid 1) of a container. It runs the command as a child, forwards signals, reaps orphans and exits as the command
// does.
// Node cannot do this, because it does not reap processes that it did not start. Pure.
//
//   INIT-SHELL-1  A signal is forwarded once, also one that comes before the child exists. SIGUSR2 and SIGQUIT have no effect, as for any pid 1.
//   INIT-SHELL-2  The child's exit code is the container's, or 128 plus the signal that ended it. A stop before the child listens gives 0.
//                 Nothing was running then, so the requested stop has succeeded.
//   INIT-SHELL-3  `wait` reaps all orphans. A signal interrupts `wait`, whose code then is not the child's.
//   INIT-SHELL-4  bash is unsuitable (measured with 5.2). A signal just before its `wait` is forwarded only with the next one.
//                 It may also lose the exit code of a child that ends with a signal. dash and busybox check for signals and wait in one step.

/** Exits with 51 in a shell that can be pid 1. bash, ksh and zsh are rejected. */
export const PROBE_SCRIPT = 'trap : TERM && wait && [ -z "$BASH_VERSION$KSH_VERSION$ZSH_VERSION" ] && exit 51';

/** Run as `sh -c SCRIPT svc COMMAND…`. Descriptor 3 restores the child's stdin, which a background command loses. */
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
  /** Whether one of its standard streams is a terminal. */
  readonly terminal: boolean;
}

/** Variable names that a shell passes on. It drops others. */
const SHELL_NAME = /^[A-Za-z_]\w*$/;

/**
 * Whether a start should exec such a shell. Not on a terminal: Ctrl-C reaches the whole group, and the child would get it twice.
 * Not if a process manager named this pid for its sockets or watchdog. Not if the shell would drop a variable.
 */
export const wantsInitShell = ({ pid, argv, environment, terminal }: FirstProcess): boolean =>
  pid === 1 &&
  argv.includes('start') &&
  !terminal &&
  environment['LISTEN_PID'] === undefined &&
  environment['WATCHDOG_PID'] === undefined &&
  Object.keys(environment).every((name) => SHELL_NAME.test(name));
