// `svc init --kind workroom`: a project that plays, whose own test runs without a network.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadConfig } from '../../../shared/config/load.ts';
import { TICKETS_PLUGIN } from '../../../supervisor/cli/init/tickets-plugin.ts';
import { testBot } from '../../../worker/testing/index.ts';
import { init } from '../../support/commands/init-run.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { importSource } from '../../support/import-source.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const SECRET = 'a secret of 16 or more';

describe('svc init --kind workroom', () => {
  it('makes a project whose configuration is a Workroom with its sample', async (t) => {
    const { folder, read } = await init(t, { options: { kind: 'workroom' } });
    const { config, warnings } = loadConfig({ project: folder, mode: 'production', environment: {} });
    assert.equal(config.host.kind, 'workroom');
    assert.deepEqual(Object.keys(config.plugins), ['sandbox', 'help', 'ping', 'remind', 'work', 'tickets']);
    assert.deepEqual(warnings, []);
    assert.match(read('.env'), /^GITHUB_SECRET=[\w-]{43}$/m);
    assert.doesNotMatch(read('.env.example'), /GITHUB_SECRET=./);
    assert.match(read('README.md'), /svc workroom board add demo/);
  });

  it('refuses a kind that is none', async (t) => {
    await assert.rejects(init(t, { options: { kind: 'board' } }), { code: 'usage' });
  });

  it('opens one item for an issue of GitHub, and none without the signature', async (t) => {
    const file = join(temporaryProject(t).path, 'tickets.ts');
    const sdk = pathToFileURL(join(import.meta.dirname, '../../../worker/sdk/index.ts')).href;
    writeFileSync(file, TICKETS_PLUGIN.replace("'svc'", JSON.stringify(sdk)));
    const { default: tickets } = (await importSource(file)) as { default: Parameters<typeof testBot>[0] };
    const bot = await testBot(tickets, {
      config: { secret: SECRET },
      workroom: { boards: { demo: { members: { ann: 'owner' } } } },
    });
    const body = JSON.stringify({
      action: 'opened',
      issue: { title: 'It is slow', html_url: 'https://example.org/1' },
    });
    const signed = createHmac('sha256', SECRET).update(body).digest('hex');
    const post = async (delivery: string, signature: string): Promise<number | undefined> => {
      const headers = {
        'x-github-event': 'issues',
        'x-github-delivery': delivery,
        'x-hub-signature-256': `sha256=${signature}`,
      };
      return (await bot.post('tickets/github', { headers, body })).status;
    };
    assert.deepEqual(
      [await post('1', signed), await post('1', signed), await post('2', '0'.repeat(64))],
      [202, 202, 401],
    );
    assert.deepEqual(
      (await bot.items()).map(({ id, title, creator }) => [id, title, creator]),
      [['demo-1', 'It is slow', 'plugin:tickets']],
    );
    await bot.stop();
  });

  it('has a job that says in the room of the board what is blocked', async (t) => {
    const made = await init(t, { options: { kind: 'workroom' } });
    const project = temporaryProject(t, {
      config: { host: { name: 'team', kind: 'workroom' }, http: HTTP, plugins: { sandbox: {}, work: {} } },
    });
    project.write('data/schedule-jobs.json', made.read('data/schedule-jobs.json'));
    const host = await running(t, { project });
    const command = (body: unknown) => host.call('POST', '/api/workroom/commands', body);
    await command({ kind: 'board.add', board: 'demo', name: 'Demo' });
    await command({ kind: 'conversation.bind', board: 'demo', endpoint: 'sandbox', conversation: 'room-demo' });
    await command({ kind: 'new', board: 'demo', title: 'Release' });
    await command({ kind: 'block', item: 'demo-1', blocker: 'external', reason: 'DNS' });
    await until(async () => (await host.call('POST', '/api/jobs/blocked-items/run', {})).status === 202, {
      what: 'the job to be taken in',
    });
    const said = async (): Promise<string> =>
      (await host.call('GET', '/api/chat/messages?person=ann&room=demo&limit=50')).text;
    await until(async () => (await said()).includes('demo-1  Release · blocked · external'), { what: 'the report' });
  });
});
