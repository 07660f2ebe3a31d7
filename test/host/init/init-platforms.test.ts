// `svc init --adapter`: keys, lines of .env and the way to a token, for each platform that svc has.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { command as check } from '../../../supervisor/cli/commands/config/check.ts';
import { PLATFORMS } from '../../../supervisor/cli/init/platforms.ts';
import { BUILT_INS } from '../../../worker/runtime/loading/built-ins.ts';
import { commandContext } from '../../support/commands/command-context.ts';
import { emptyFolder, init } from '../../support/commands/init-run.ts';

/** What a person would fill in. */
const FILLED: Readonly<Record<string, string>> = {
  TELEGRAM_TOKEN: `12345:${'a'.repeat(35)}`,
  DISCORD_TOKEN: 'x'.repeat(60),
  DISCORD_APPLICATION_ID: '845027738276462632',
  SLACK_TOKEN: 'xoxb-1-2-three',
  SLACK_APP_TOKEN: 'xapp-1-A-2-three',
  IRC_SERVER: 'irc.example',
  IRC_NICK: 'helper',
  XMPP_JID: 'helper@example.org',
  XMPP_PASSWORD: 'a-long-password',
  LINE_TOKEN: 'l'.repeat(100),
  LINE_SECRET: '0123456789abcdef0123456789abcdef',
  GITHUB_LOGIN: 'helper-bot',
  GITHUB_TOKEN: 'ghp_0123456789abcdef',
  ONEBOT_TOKEN: 'a-token-of-onebot',
};
const OTHERS = ['work', 'echo', 'help', 'ping', 'remind', 'sandbox'];

async function checked(project: string) {
  const { context, output } = commandContext({ cwd: project });
  const code = await check.run(context, [], { mode: 'production' });
  return { code, told: output.notes.join('\n') };
}

describe('svc init --adapter', () => {
  it('knows every adapter of svc', () => {
    const adapters = Object.keys(BUILT_INS).filter((name) => !OTHERS.includes(name));

    assert.deepEqual(PLATFORMS.map(({ name }) => name).toSorted(), adapters.toSorted());
  });

  for (const { name, variables } of PLATFORMS)
    it(`makes an account of ${name} that is valid once .env is filled in, and names what is missing before`, async (t) => {
      const { folder, output, read } = await init(t, { options: { adapter: name, sample: false } });
      const open = variables.filter(({ make }) => make === undefined);
      const env = join(folder, '.env');

      const before = await checked(folder);
      const filled = open.reduce(
        (text, one) => text.replace(`${one.name}=\n`, `${one.name}=${FILLED[one.name]}\n`),
        read('.env'),
      );
      writeFileSync(env, filled);
      const after = await checked(folder);

      assert.deepEqual([before.code, after.code], [open.length === 0 ? EXIT.ok : EXIT.config, EXIT.ok], after.told);
      for (const one of open) {
        assert.match(before.told, new RegExp(`is empty: ${one.name} has no value`));
        assert.ok(output.texts.some((line) => line.includes(`put ${one.name} into .env: ${one.from}`)));
        assert.ok(read('README.md').includes(one.from));
      }
      assert.doesNotMatch(after.told, /\.env/);
      for (const one of variables) assert.equal(parseEnv(read('.env.example'))[one.name], '');
    });

  it('takes several, and names the nearest of one that it does not know', async (t) => {
    const { read } = await init(t, { options: { adapter: 'telegram, Discord' } });

    assert.match(read('svc.config.yml'), / {2}telegram:\n[^]* {2}discord:\n[^]* {2}hello:\n/);
    await assert.rejects(init(t, { options: { adapter: 'telegrm' } }), {
      code: 'usage',
      hint: 'did you mean telegram?',
    });
  });

  it('leaves a README alone that is there', async (t) => {
    const folder = emptyFolder(t);
    mkdirSync(join(folder, 'my-bot'));
    writeFileSync(join(folder, 'my-bot/README.md'), '# mine\n');

    const { exit } = await init(t, { folder });

    assert.equal(exit, EXIT.ok);
    assert.equal(readFileSync(join(folder, 'my-bot/README.md'), 'utf8'), '# mine\n');
  });
});
