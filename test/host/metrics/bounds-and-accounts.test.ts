// What alerts compare with: whether an account is enabled and required, and the bounds of disk and state.
import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { samplesOf } from '../../support/alerts/selectors.ts';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

async function figures({ call }: Running, prefix: string): Promise<Readonly<Record<string, number>>> {
  const { text } = await call('GET', '/api/metrics');
  return Object.fromEntries(
    samplesOf(text)
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name, labels, value }) => [`${name} ${labels['endpoint'] ?? ''}`.trim(), value]),
  );
}

const SANDBOX = 'root/sandbox:sandbox';

describe('figures of an account', () => {
  it('say whether it is required, and follow an operator who disables and enables it', async (t) => {
    const readiness = { endpoints: [{ owner: 'root/sandbox', name: 'sandbox' }] };
    const host = await running(t, { config: { http: { ...HTTP, readiness }, plugins: { sandbox: {} } } });
    const seen = async (): Promise<readonly (number | undefined)[]> => {
      const all = await figures(host, 'svc_endpoint_');
      return ['enabled', 'required'].map((what) => all[`svc_endpoint_${what} ${SANDBOX}`]);
    };
    const turn = async (verb: string): Promise<void> => {
      const { status, text } = await host.call('POST', `/api/endpoints/${SANDBOX}/${verb}`, {});
      assert.equal(status, 200, text);
    };

    assert.deepEqual(await seen(), [1, 1]);
    await turn('disable');
    assert.deepEqual(await seen(), [0, 1]);
    await turn('enable');
    assert.deepEqual(await seen(), [1, 1]);
  });

  it('say 0 of one that no readiness asks for', async (t) => {
    const host = await running(t, { config: { http: HTTP, plugins: { sandbox: {} } } });

    assert.equal((await figures(host, 'svc_endpoint_required'))[`svc_endpoint_required ${SANDBOX}`], 0);
  });
});

describe('bounds of disk and state', () => {
  it('are those of the configuration, over a reload too', async (t) => {
    const host = await running(t, { config: { http: HTTP, disk: { maxBytes: 100_000_000, minFreeBytes: 0 } } });
    const bounds = async (): Promise<unknown> => {
      const all = await figures(host, 'svc_');
      return [all['svc_state_limit_bytes'], all['svc_disk_min_free_bytes']];
    };

    assert.deepEqual(await bounds(), [100_000_000, 0]);
    host.configure({ disk: { maxBytes: 200_000_000, minFreeBytes: 1_000 } });
    assert.equal((await host.call('POST', '/api/system/reload', {})).status, 200);
    assert.deepEqual(await bounds(), [200_000_000, 1_000]);
  });

  it('close no ingress for what checkpoints, rehearsals, restores and releases make beside the state', async (t) => {
    const config = { http: HTTP, disk: { maxBytes: 100_000_000, minFreeBytes: 0 }, plugins: { sandbox: {} } };
    const project = temporaryProject(t, { config });
    for (const folder of ['checkpoints/c1', 'replaced/s1', 'rehearsal/project', 'releases/r1/next', 'restoring.part']) {
      project.write(`.svc/${folder}/data.sqlite`, '');
      truncateSync(join(project.paths.stateDir, folder, 'data.sqlite'), 10 ** 9);
    }
    const host = await running(t, { project });

    const { svc_state_bytes: used = 0 } = await figures(host, 'svc_state_bytes');

    assert.ok(used < 100_000_000, String(used));
    assert.equal((await host.call('GET', '/api/system/readiness')).status, 200);
  });
});
