// Who was refused for a token stands in the log, however many try: one line a minute, and nothing of what was sent.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HTTP, running } from '../support/hosts/app-host.ts';
import { temporaryProject } from '../support/temporary-project.ts';

const DEMO = 'demo-token-0123456789abcdef';
const WRONG = 'wrong-token-0123456789abcdef';

describe('a token that is refused', () => {
  it('is told in the log once a minute, with address and route, and without the token', async (t) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    const config = { http: { ...HTTP, demoToken: '${DEMO_TOKEN}' } };
    const host = await running(t, { project: temporaryProject(t, { config, env: { DEMO_TOKEN: DEMO } }) });
    const ask = async (token: string): Promise<number> => {
      const url = `http://127.0.0.1:${host.app.address()?.port}/api/system/readiness?who=${token}`;
      return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
    };

    const statuses = [await ask(WRONG), await ask(WRONG), await ask(DEMO)];

    assert.deepEqual(statuses, [401, 401, 403]);
    const { text } = await host.call('GET', '/api/logs?lines=1000&level=warn');
    assert.equal(text.match(/a request was refused/g)?.length, 1, text);
    assert.match(text, /"address":"127\.0\.0\.1","route":"\/api\/system\/readiness","status":401/);
    assert.ok(!text.includes(WRONG) && !text.includes('who='), text);
  });
});
