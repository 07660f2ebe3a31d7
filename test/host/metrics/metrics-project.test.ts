// The label `project` of the metrics, over a reload: the name without what has become a secret by it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HTTP, running } from '../../support/hosts/app-host.ts';

const VALUE = 'of-a-token-0123456789abcdef';

describe('the label `project` of the metrics', () => {
  it('masks what has become a secret', async (t) => {
    const host = await running(t, { config: { host: { name: `bot-${VALUE}` }, http: HTTP } });
    const labels = async (): Promise<readonly string[]> => {
      const { text } = await host.call('GET', '/api/metrics');
      return [...new Set([...text.matchAll(/project="([^"]*)"/g)].map(([, label = '']) => label))];
    };
    const before = await labels();

    host.project.write('.env', `${host.project.read('.env')}LATE_TOKEN=${VALUE}\n`);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    host.configure({ host: { name: `bot-${VALUE}` }, http: { ...HTTP, demoToken: '${LATE_TOKEN}' } });
    const { status, text } = await host.call('POST', '/api/system/reload', {});

    assert.equal(status, 200, text);
    assert.deepEqual([before, await labels()], [[`bot-${VALUE}`], ['bot-[secret]']]);
  });
});
