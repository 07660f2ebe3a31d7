// `svc deploy init systemd` and `launchd`: the pair with its drop-in, and the agent that `svc service install` would write.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { headOf, templateHash } from '../../../supervisor/cli/deploy/template.ts';
import { launchdLabel } from '../../../supervisor/cli/service/names.ts';
import { renderPlist } from '../../../supervisor/cli/service/render.ts';
import { serviceFacts } from '../../../supervisor/cli/service/service-of.ts';
import { deployFolder, runDeploy } from '../../support/commands/deploy-run.ts';
import { type Dictionary, launchdFaults, parsePlist } from '../../support/owners/plist.ts';

const SERVICE = 'deploy/systemd/svc@.service';
const SOCKET = 'deploy/systemd/svc@.socket';
const DROP_IN = 'deploy/systemd/svc@bob.socket.d/address.conf';
const TOKEN = 'Vq3mT9xKz7Lp2RwYc8Nb5Hd1Js6Gf4Ae';

describe('svc deploy init systemd', () => {
  it('writes a pair for every user: one Node, the svc of the project, and the address of the configuration', async (t) => {
    const config = 'http: { host: "${HTTP_HOST:-127.0.0.2}", port: "${HTTP_PORT:-9000}", token: "${HTTP_TOKEN}" }\n';
    const folder = deployFolder(t, { config });
    await runDeploy(folder, 'systemd', { node: '/opt/node/bin/node' });
    const [service, socket] = [SERVICE, SOCKET].map((path) => readFileSync(join(folder, path), 'utf8'));

    assert.match(service ?? '', /^ExecStart=\/opt\/node\/bin\/node \/srv\/svc\/%i\/node_modules\/svc\/dist\/cli\.js /m);
    assert.match(socket ?? '', /^ListenStream=127\.0\.0\.2:9000$/m);
    assert.match(service ?? '', /^TimeoutStopSec=20$/m);
    assert.doesNotMatch(service ?? '', /^MemoryDenyWriteExecute/m);
  });

  it('waits for the drain that the project has', async (t) => {
    const folder = deployFolder(t, {
      config: 'http: { token: "${HTTP_TOKEN}" }\nsupervisor: { stopTimeoutSeconds: 60 }\n',
    });
    await runDeploy(folder, 'systemd');
    assert.match(readFileSync(join(folder, SERVICE), 'utf8'), /^TimeoutStopSec=65$/m);
  });

  it('has the address of a literal configuration, too', async (t) => {
    const folder = deployFolder(t, { config: 'http: { host: "::1", port: 9100, token: "${HTTP_TOKEN}" }\n' });
    await runDeploy(folder, 'systemd');
    assert.match(readFileSync(join(folder, SOCKET), 'utf8'), /^ListenStream=\[::1\]:9100$/m);
  });

  it('writes a drop-in for one more instance, which takes the address of the template away first', async (t) => {
    const folder = deployFolder(t);
    const { actions, next, notes } = await runDeploy(folder, 'systemd', { instance: 'bob', port: '8069' });
    const text = readFileSync(join(folder, DROP_IN), 'utf8');

    assert.deepEqual(actions, { [SERVICE]: 'made', [SOCKET]: 'made', [DROP_IN]: 'made' });
    assert.deepEqual(text.match(/^ListenStream=.*$/gm), ['ListenStream=', 'ListenStream=127.0.0.1:8069']);
    assert.equal(headOf(text)?.hash, templateHash('systemd/instance.conf'));
    assert.match(next.join('\n'), /cp -r deploy\/systemd\/svc@bob\.socket\.d .*\n.*enable --now svc@bob\.socket/s);
    assert.match(notes.join('\n'), /HTTP_PORT=8069/);
    const second = await runDeploy(folder, 'systemd', { instance: 'carol', port: '8070' });
    assert.equal(second.actions[SERVICE], 'unchanged');
  });

  it('refuses an instance without an address of its own, and a Node that the unit cannot see', async (t) => {
    const folder = deployFolder(t);
    const cases = [
      { options: { instance: 'bob' }, says: /go together/ },
      { options: { port: '8069' }, says: /go together/ },
      { options: { instance: 'bob', port: '8068' }, says: /8068 is the address of the other instances/ },
      { options: { instance: 'bob', port: '0' }, says: /number from 1 to 65535/ },
      { options: { instance: 'bob', port: '80x' }, says: /number from 1 to 65535/ },
      { options: { instance: '../etc', port: '8069' }, says: /name of a user/ },
      { options: { node: 'node' }, says: /whole path/ },
      { options: { node: '/home/ann/.nvm/bin/node' }, says: /home folder/ },
    ];
    for (const { options, says } of cases) {
      await assert.rejects(runDeploy(folder, 'systemd', options), { message: says });
      assert.equal(existsSync(join(folder, 'deploy')), false);
    }
  });
});

describe('svc deploy init launchd', () => {
  it('writes the agent that svc service install would write, of keys that launchd knows, without a token', async (t) => {
    const folder = deployFolder(t);
    writeFileSync(join(folder, '.env'), `HTTP_TOKEN=${TOKEN}\n`, { mode: 0o600 });
    mkdirSync(join(folder, 'node_modules/svc/dist'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/svc/dist/cli.js'), '');
    const label = launchdLabel(folder);
    const path = `deploy/launchd/${label}.plist`;

    const { actions, notes, next } = await runDeploy(folder, 'launchd');

    const text = readFileSync(join(folder, path), 'utf8');
    const template = readFileSync(join(import.meta.dirname, '../../../deploy/launchd/agent.plist'), 'utf8');
    const installed = renderPlist(template, serviceFacts({ project: folder, name: label, env: {} }));
    assert.deepEqual(actions, { [path]: 'made' });
    assert.equal(headOf(text)?.hash, templateHash('launchd/agent.plist'));
    const agent = parsePlist(text) as Dictionary;
    assert.deepEqual(agent, parsePlist(installed));
    assert.deepEqual(launchdFaults(agent), []);
    assert.doesNotMatch(text, new RegExp(`${TOKEN}|HTTP_TOKEN`));
    assert.match(notes.join('\n'), /belongs in no repository/);
    assert.equal((await runDeploy(folder, 'launchd')).actions[path], 'unchanged');
    t.diagnostic(`deploy: launchd: ${1 + next.length} commands; no seconds to ready, since no Mac runs the tests`);
  });

  it('refuses a project without .env: the agent would not start', async (t) => {
    await assert.rejects(runDeploy(deployFolder(t), 'launchd'), { code: 'refused', message: /\.env is missing/ });
  });
});
