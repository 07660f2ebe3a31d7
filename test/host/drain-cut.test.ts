// What the host in this process says that its drain has cut.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Cut } from '../../shared/api/control.ts';
import { HTTP, running } from '../support/hosts/app-host.ts';
import { temporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

const ENDLESS = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'endless', setup(p) { p.command('wait', { summary: 'Waits' }, () => new Promise(() => {})); } });
`;

describe('a drain with a handler that does not end', () => {
  it('tells at once what it has cut, as in what it gives', async (t) => {
    const project = temporaryProject(t, {
      config: { http: HTTP, plugins: { sandbox: {}, endless: { use: './plugins/endless.mjs' } } },
      plugins: { 'endless.mjs': ENDLESS },
    });
    const host = await running(t, { project });
    await host.call('POST', '/api/chat/say', { person: 'ann', text: '/wait', delivery: randomUUID() });
    const isHandling = async (): Promise<boolean> =>
      (await host.call('GET', '/api/inbox?state=handling')).text.includes('"handling"');
    await until(isHandling, { what: 'the handler at work' });
    const told: Cut[] = [];

    const { cut } = await host.app.stop(500, { code: 0, reason: 'told to' }, (part) => told.push(part));

    assert.ok(
      cut.some(({ name, count }) => name === 'handlers' && count === 1),
      JSON.stringify(cut),
    );
    assert.deepEqual(told, cut);
  });
});
