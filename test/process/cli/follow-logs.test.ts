// `svc runtime logs -f` with each filter, as lines of JSON and for people, over rotations and a restart of a real host: what fits, once, in order.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { portProject, type StartedSvc, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

/** Numbered lines, each run of it from 1 on: every third is a warning, every fifth of an account. */
const TALKER = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'talker', setup(p) {
  let n = 0;
  const timer = setInterval(() => {
    for (let line = 0; line < 20; line += 1) {
      n += 1;
      const fields = { n, of: process.pid, ...(n % 5 === 0 ? { endpoint: 'root/irc:irc~net' } : {}) };
      p.log[n % 3 === 0 ? 'warn' : 'info'](fields, 'said ' + 'x'.repeat(100));
    }
  }, 50);
  timer.unref();
} });
`;

const isWarning = (n: number): boolean => n % 3 === 0;
const isOfAccount = (n: number): boolean => n % 5 === 0;
const MANY = ['-n', '1000000'];

async function talkingHost(t: TestContext) {
  const project = await portProject(t, {
    keys: {
      plugins: { sandbox: {}, talker: { use: './plugins/talker.mjs' } },
      supervisor: { log: { maxBytes: 65_536, maxFiles: 100 } },
    },
    plugins: { 'talker.mjs': TALKER },
  });
  const run = (...words: string[]) => svc(['runtime', ...words], { cwd: project.path });
  const started = await run('start', '--daemon');
  assert.equal(started.code, 0, started.stdout + started.stderr);
  const follow = (...flags: string[]): StartedSvc => {
    const follower = startSvc(['runtime', 'logs', '-f', ...flags], { cwd: project.path });
    t.after(() => void follower.child.kill('SIGKILL'));
    return follower;
  };
  const rotations = (): Promise<number> =>
    run('logs', '--json', ...MANY).then(({ stdout }) => stdout.split('"log rotated"').length - 1);
  return { run, follow, rotated: (count: number) => reaches(rotations, count, 'rotations') };
}

const reaches = (counted: () => Promise<number>, count: number, what: string): Promise<unknown> =>
  until(async () => (await counted()) >= count, { what: `${count} ${what}` });

/** The talker's numbers by process, of whole lines of either form. */
function numbersOf({ output }: StartedSvc): ReadonlyMap<string, readonly number[]> {
  const numbers = new Map<string, number[]>();
  for (const line of output().split('\n').slice(0, -1)) {
    const n = /(?:"n":|\bn=)(\d+)/.exec(line)?.[1];
    const of = /(?:"of":|\bof=)(\d+)/.exec(line)?.[1] ?? '';
    if (n !== undefined) numbers.set(of, [...(numbers.get(of) ?? []), Number(n)]);
  }
  return numbers;
}

/** Those of it that fit, from the first that was seen up to the last that was said. */
const fitting = ([first, last]: readonly [number, number], fits: (n: number) => boolean): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index).filter(fits);

const isBoth = (n: number): boolean => isWarning(n) && isOfAccount(n);

describe('svc runtime logs -f', { concurrency: 3 }, () => {
  it('gives what fits its filters over rotations and a restart, each line once, in JSON and for people', async (t) => {
    const host = await talkingHost(t);
    await host.rotated(2);
    const since = ['--since', new Date().toISOString()];
    const everything = host.follow(...MANY);
    const followers: readonly (readonly [StartedSvc, (n: number) => boolean])[] = [
      [everything, () => true],
      [host.follow(...MANY, '--level', 'warn'), isWarning],
      [host.follow(...MANY, '--level', 'warn', '--json'), isWarning],
      [host.follow(...MANY, '--endpoint', 'irc~net', '--json'), isOfAccount],
      [host.follow(...MANY, '--endpoint', 'root/irc:irc~net', '--level', 'warn'), isBoth],
      [host.follow(...since), () => true],
      [host.follow(...since, '--level', 'warn', '--endpoint', 'irc~net', '--json'), isBoth],
    ];
    await host.rotated(4);

    const restarted = await host.run('restart');
    assert.equal(restarted.code, 0, restarted.stdout + restarted.stderr);
    await host.rotated(7);
    assert.equal((await host.run('stop')).code, 0);
    await until(() => everything.output().includes('supervisor stopped'), { what: 'the end' });

    const said = [...numbersOf(everything)].map(([of, seen]) => [of, seen.at(-1) ?? 0] as const);
    assert.equal(said.length, 2);
    for (const [follower, fits] of followers) {
      const flags = follower.child.spawnargs.slice(4).join(' ');
      for (const [of, last] of said) {
        const wanted = (): readonly number[] => fitting([numbersOf(follower).get(of)?.[0] ?? 1, last], fits);
        await until(() => numbersOf(follower).get(of)?.at(-1) === wanted().at(-1), { what: `the end of ${flags}` });
        assert.deepEqual(numbersOf(follower).get(of), wanted(), flags);
        const begun = of === said[0]?.[0] && flags.includes('--since');
        assert.equal((numbersOf(follower).get(of)?.[0] ?? 0) > 15, begun, `${flags} begins where it should`);
      }
      assert.doesNotMatch(follower.output(), /lines may be missing/);
      for (const line of follower.output().trimEnd().split('\n'))
        assert.match(
          line,
          flags.includes('--json') ? /^\{.*\}$/ : /^\d{4}-\d\d-\d\dT[\d:.]{12}Z (INFO|WARN|info|warn) /,
        );
    }
  });
});
