// The environment of a supervisor on a machine where a process group takes its time to die, or does not: SIGKILL to one is carried out late, or never.
// What Linux needs for that (a process in the middle of a call that no signal ends) cannot be had at will.

/** Undefined: never. */
export const lateGroupKill = (afterMs?: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload(afterMs))}`,
});

const preload = (afterMs: number | undefined): string => `const kill = process.kill.bind(process);
process.kill = (pid, signal) => {
  if (pid > 0 || signal !== 'SIGKILL') return kill(pid, signal);
  kill(pid, 0);
  const carryOut = () => { try { kill(pid, signal); } catch {} };
  ${afterMs === undefined ? '' : `setTimeout(carryOut, ${afterMs});`}
  return true;
};`;
