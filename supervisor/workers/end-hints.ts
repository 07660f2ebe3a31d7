// Hints for the operator about why a worker ended or failed to start. The kernel reports none of this by itself.
import { readFileSync } from 'node:fs';

const KERNEL_LOG = 'look for the OOM killer: journalctl -k | grep -i oom';

/** Count of OOM kills in this process's control group. Undefined if the system does not report it. */
export function oomKills(): number | undefined {
  try {
    const [, group = ''] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
    const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(`/sys/fs/cgroup${group}/memory.events`, 'utf8')) ?? [];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined; // not Linux, or cgroup v1
  }
}

/** Explains a SIGKILL that the supervisor did not send. `before` and `after` are the OOM kill counts at the worker's start and end. */
export function killedFromOutside(before: number | undefined, after: number | undefined): string {
  if (before !== undefined && after !== undefined && after > before)
    return 'killed by the kernel for want of memory: the control group is at its limit (memory.max, MemoryMax= of a unit, the limit of a container)';
  return `killed by signal 9 from outside: ${KERNEL_LOG}`;
}

/** Advice for a system error code. Undefined if there is none. */
export function remedyFor(code: string): string | undefined {
  switch (code) {
    case 'EMFILE':
      return 'the supervisor has too many files open: raise `ulimit -n`, or LimitNOFILE= of its unit';
    case 'ENFILE':
      return 'the machine has too many files open: raise fs.file-max';
    case 'EAGAIN':
      return 'this user or its control group has too many processes: raise `ulimit -u`, or TasksMax= of its unit';
    case 'ENOMEM':
      return 'the machine has no memory for another process';
    default:
      return undefined;
  }
}
