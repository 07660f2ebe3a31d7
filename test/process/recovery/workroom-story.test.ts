// A day of a team as one story: two people at a real IRC server, a signed delivery of GitHub, a blocker whose deadline announces itself, a
// kill -9 in the middle, and a journal that verifies afterwards, here and from a copy elsewhere.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { TICKETS_PLUGIN } from '../../../supervisor/cli/init/tickets-plugin.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { type IrcPerson, ircPerson } from '../../support/irc/irc-person.ts';
import { ngircd, ngircdMissing } from '../../support/irc/ngircd.ts';
import { svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const SECRET = 'a secret of GitHub, 16 or more';
const ROOM = '#web';

describe('a team at work', { skip: ngircdMissing(), timeout: 600_000 }, () => {
  it('goes from a delivery to done over a kill, and can prove it', async (t) => {
    const server = await ngircd(t);
    const host = await workroomAt(t, server.port);
    const [ann, bob] = [await ircPerson(t, server.port, 'ann'), await ircPerson(t, server.port, 'bob')];
    await Promise.all([ann.join(ROOM), bob.join(ROOM)]);
    const run = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await svc(['workroom', ...args, '--project', host.project.path], {
        env: host.project.env,
      });
      assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
      return stdout;
    };
    await run('board', 'add', 'web', '--name', 'Web site', '--conversation', `irc~main:${ROOM}`);
    for (const [person, role] of [
      [ann, 'owner'],
      [bob, 'worker'],
    ] as const) {
      const code = /\/work join (\S+)/.exec(await run('member', 'add', person.nick))?.[1] ?? '';
      await run('board', 'grant', 'web', '--role', `${person.nick}=${role}`);
      person.says('svcbot', `/work join ${code}`);
      await heard(person, /^Welcome, /, person.nick);
    }

    assert.equal(await deliver(host), 202);
    assert.equal(await deliver(host), 202);
    await until(async () => (await stateOf(host)) === 'open', { what: 'the item of the delivery' });
    bob.says(ROOM, 'svcbot: /work take 1');
    await heard(bob, /web-1.*active, bob/);
    bob.says(ROOM, 'svcbot: /work block 1 external by ann until 3s waiting for DNS');
    await heard(ann, /^Blocked: .*web-1/);
    await until(async () => (await pending(host)) === 0, { what: 'everything said to be confirmed' });
    await host.stop('SIGKILL');
    await host.start();
    await heard(ann, /^Overdue: .*web-1/);

    const bot = ['svcbot', 'svcbot_'].find((nick) =>
      ann.heard(nick, ROOM).some((line) => line.startsWith('Overdue: ')),
    );
    for (const [person, line, state] of [
      [ann, '/work unblock web-1', 'active'],
      [bob, '/work submit web-1 it answers', 'review'],
      [ann, '/work accept web-1', 'done'],
    ] as const) {
      person.says(bot ?? '', line);
      await until(async () => (await stateOf(host)) === state, { what: state });
    }

    const [head = ''] = /\d+:[0-9a-f]{64}/.exec(await run('verify')) ?? [];
    const elsewhere = mkdtempSync(join(tmpdir(), 'svc-elsewhere-'));
    t.after(() => rmSync(elsewhere, { recursive: true, force: true }));
    await run('export', '--to', join(host.project.path, 'board.ndjson'));
    copyFileSync(join(host.project.path, 'board.ndjson'), join(elsewhere, 'board.ndjson'));
    const proof = await svc(['workroom', 'verify', '--file', 'board.ndjson', '--expect', head], { cwd: elsewhere });
    assert.equal(proof.code, 0, proof.stdout + proof.stderr);
    await host.stop();
    await run('verify', '--expect', head);
  });
});

async function workroomAt(t: TestContext, port: number): Promise<RunningHost> {
  const account = {
    id: 'main',
    server: '127.0.0.1',
    port,
    tls: false,
    nick: 'svcbot',
    channels: [ROOM],
    burstLines: 50,
    linesPerSecond: 20,
  };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  const tickets = { use: './plugins/tickets.js', secret: '${GITHUB_SECRET}', board: 'web' };
  const host = await runningHost(t, {
    plugins: { irc: { endpoints: [account] }, work: {}, tickets },
    config: { host: { name: 'team', kind: 'workroom' } },
    env: { GITHUB_SECRET: SECRET },
    sources: { 'tickets.js': TICKETS_PLUGIN },
  });
  await until(async () => JSON.stringify(await host.get('api/endpoints')).includes('"online"'), {
    what: 'the account',
  });
  return host;
}

async function deliver(host: RunningHost): Promise<number> {
  const body = JSON.stringify({ action: 'opened', issue: { title: 'It is slow', html_url: 'https://example.org/1' } });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const response = await fetch(`${host.url}webhooks/tickets/github`, {
    method: 'POST',
    headers: { 'x-github-event': 'issues', 'x-github-delivery': 'd-1', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  });
  return response.status;
}

async function stateOf(host: RunningHost): Promise<string | undefined> {
  const page = (await host.get('api/workroom/items?limit=50')) as {
    readonly items: readonly { id: string; state: string }[];
  };
  const open = page.items.find(({ id }) => id === 'web-1')?.state;
  if (open !== undefined) return open;
  const done = (await host.get('api/workroom/items?state=done')) as typeof page;
  return done.items.find(({ id }) => id === 'web-1')?.state;
}

const pending = async (host: RunningHost): Promise<number> =>
  ((await host.get('api/outbox?state=pending')) as { readonly total: number }).total;

/** The bot comes back under another nick while the server still knows the one that was killed. */
const heard = (person: IrcPerson, text: RegExp, target: string = ROOM): Promise<unknown> =>
  until(() => ['svcbot', 'svcbot_'].some((bot) => person.heard(bot, target).some((line) => text.test(line))), {
    what: `${person.nick} to hear ${text}`,
  });
