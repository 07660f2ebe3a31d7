// What the command asks a person on a terminal.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CTRL_C, ENTER, terminal, terminalMissing } from '../../support/process/terminal.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const DOWN = '\u001B[B';

describe('on a terminal', { skip: terminalMissing() }, () => {
  it('svc init asks for name, port, platform and sample, refuses a wrong answer on the spot, and makes what was asked for', async (t) => {
    const { path } = temporaryProject(t, { config: null });
    const { shows, type, ended, screen } = terminal(t, ['init', 'bot one', '--no-lockfile', '--svc', '^0.1.0'], path);
    const folder = join(path, 'bot one');

    await shows('Name of the package?');
    await shows('bot-one');
    type(`-two${ENTER}`);
    await shows('Port of the HTTP interface?');
    type(`1${ENTER}`);
    await shows('the port must be a whole number from 1 to 65535');
    type(`\b${ENTER}`);
    await shows('Where do people talk to it?');
    type(`${DOWN}${ENTER}`);
    await shows('A sample plugin with its test?');
    type(`n${ENTER}`);

    assert.equal(await ended, 0, screen());
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    assert.equal(name, 'bot-one-two');
    assert.match(readFileSync(join(folder, 'svc.config.yml'), 'utf8'), /8068[^]*telegram:\n +endpoints:/);
    assert.match(screen(), /put TELEGRAM_TOKEN into \.env: write \/newbot to @BotFather/);
    assert.equal(existsSync(join(folder, 'plugins')), false);
    assert.equal(statSync(join(folder, '.env')).mode & 0o777, 0o600);
    const token = /^HTTP_TOKEN=(.+)$/m.exec(readFileSync(join(folder, '.env'), 'utf8'))?.[1] ?? '';
    assert.ok(token.length > 40 && !screen().includes(token), 'a random token, which is not shown');
  });

  it('svc init writes nothing when the person breaks off', async (t) => {
    const { path } = temporaryProject(t, { config: null });
    const before = readdirSync(path);
    const { shows, type, ended } = terminal(t, ['init', 'bot', '--no-lockfile', '--svc', '^0.1.0'], path);

    await shows('Name of the package?');
    type(ENTER);
    await shows('Port of the HTTP interface?');
    type(CTRL_C);
    await shows('Nothing was written.');

    assert.equal(await ended, 1);
    assert.deepEqual(readdirSync(path), before);
  });

  it('svc init --yes asks nothing', async (t) => {
    const { path } = temporaryProject(t, { config: null });
    const { ended, screen } = terminal(t, ['init', 'bot', '--no-lockfile', '--svc', '^0.1.0', '--yes'], path);

    assert.equal(await ended, 0, screen());
    assert.doesNotMatch(screen(), /\?/);
    assert.ok(existsSync(join(path, 'bot', 'plugins')));
  });

  it('svc runtime start --once tells a person in words what a harness reads as JSON', async (t) => {
    const { path } = temporaryProject(t, {
      config: { plugins: { sandbox: {}, ping: {}, own: { use: './plugins/own.js' } } },
      plugins: {
        'own.js':
          "import { definePlugin } from 'svc'; export default definePlugin({ name: 'own', setup(p) { p.cron('daily', { at: '30 4 * * *' }, () => {}); } });",
      },
    });
    const { ended, screen } = terminal(t, ['runtime', 'start', '--once', '--mode', 'test'], path);

    assert.equal(await ended, 0, screen());
    assert.match(screen(), /would start: everything was assembled\r?\n/);
    assert.match(screen(), /plugins +sandbox, ping, own\r?\n/);
    assert.match(screen(), /accounts +root\/sandbox:sandbox \(sandbox\)/);
    assert.match(screen(), /jobs +root\/own#cron\/daily at 30 4 \* \* \* \(UTC\), next \d{4}-/);
    assert.match(screen(), /database +\.svc\/data\.sqlite is not there yet: a start makes it/);
    assert.doesNotMatch(screen(), /[{}]/);
  });

  it('svc doctor --fix asks before it changes rights, and keeps them after a no', async (t) => {
    const { path } = temporaryProject(t);
    const env = join(path, '.env');
    const fix = async (answer: string): Promise<number> => {
      chmodSync(env, 0o644);
      const { shows, type, ended } = terminal(t, ['doctor', '--fix', '--only', 'env.rights'], path);
      await shows('Mend it?');
      type(`${answer}${ENTER}`);
      await ended;
      return statSync(env).mode & 0o777;
    };

    assert.equal(await fix('n'), 0o644);
    assert.equal(await fix('y'), 0o600);
  });
});
