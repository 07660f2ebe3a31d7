import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { knownOwners, type OwnerPlaces } from '../../../../supervisor/cli/service/owners.ts';
import { sandboxWarnings } from '../../../../supervisor/cli/service/sandbox.ts';

const PROJECT = '/srv/svc/alice';

interface Machine {
  readonly places: OwnerPlaces;
  write(path: string, text: string): void;
  enable(folder: 'system' | 'user', name: string, file?: string): void;
  owners(project?: string): string[];
}

function machine(t: TestContext): Machine {
  const root = mkdtempSync(join(tmpdir(), 'svc-owners-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const places = {
    systemUnits: join(root, 'system'),
    userUnits: join(root, 'user'),
    home: '/home/ann',
    agents: [join(root, 'LaunchAgents'), join(root, 'LaunchDaemons')],
    pm2: join(root, 'pm2/dump.pm2'),
  };
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  return {
    places,
    write,
    enable(folder, name, file = name) {
      mkdirSync(join(root, folder, 'x.target.wants'), { recursive: true });
      symlinkSync(join(root, folder, file), join(root, folder, 'x.target.wants', name));
    },
    owners: (project = PROJECT) => knownOwners(project, places).map(({ kind, name }) => `${kind} ${name}`),
  };
}

const unit = (folder: string): string => `[Service]\nWorkingDirectory=${folder}\nExecStart=/bin/true\n`;

describe('knownOwners', () => {
  it('are none on a machine without any', (t) => {
    assert.deepEqual(machine(t).owners(), []);
  });

  it('counts an enabled unit and no other (OWNERS-1)', (t) => {
    const { write, enable, owners } = machine(t);
    write('system/svc@alice.service', unit(PROJECT));
    assert.deepEqual(owners(), []);

    enable('system', 'svc@alice.service');

    assert.deepEqual(owners(), ['systemd svc@alice.service']);
    assert.deepEqual(owners('/srv/svc/bob'), []);
  });

  it('knows a unit by its folder, also through %i of a template, and whatever it is called (OWNERS-2)', (t) => {
    const { write, enable, owners } = machine(t);
    write('system/svc@.service', unit('/srv/svc/%i'));
    enable('system', 'svc@alice.service', 'svc@.service');
    write('user/my-bot.service', unit('/home/ann/100%%'));
    enable('user', 'my-bot.service');

    assert.deepEqual(owners(), ['systemd svc@alice.service']);
    assert.deepEqual(owners('/home/ann/100%'), ['systemd my-bot.service']);
  });

  it('knows it however the folder is written (OWNERS-2)', (t) => {
    const { write, enable, owners } = machine(t);
    for (const [name, folder] of [
      ['home', '%h/bot'],
      ['slash', '/home/ann/bot/'],
      ['optional', '-/home/ann/bot'],
    ] as const) {
      write(`user/${name}.service`, unit(folder));
      enable('user', `${name}.service`);
    }

    assert.deepEqual(owners('/home/ann/bot').toSorted(), [
      'systemd home.service',
      'systemd optional.service',
      'systemd slash.service',
    ]);
  });

  it('names the commands of the manager whose unit it is', (t) => {
    const { write, enable, places } = machine(t);
    write('user/my-bot.service', unit(PROJECT));
    enable('user', 'my-bot.service');

    const [owner] = knownOwners(PROJECT, places);

    assert.equal(owner?.start, 'systemctl --user start my-bot.service');
    assert.equal(owner?.remove, 'systemctl --user disable --now my-bot.service');
  });

  it('counts a launch agent and an app that PM2 has saved', (t) => {
    const { write, owners } = machine(t);
    write('LaunchAgents/io.svc.x.plist', '<string>/Users/a &amp; b</string>');
    write('pm2/dump.pm2', JSON.stringify([{ name: 'bot', pm_cwd: PROJECT }, { name: 'other', pm_cwd: '/' }, null]));

    assert.deepEqual(owners('/Users/a & b'), ['launchd io.svc.x']);
    assert.deepEqual(owners(), ['pm2 bot']);
  });

  it('takes files that cannot be read for none (OWNERS-3)', (t) => {
    const { write, enable, owners } = machine(t);
    enable('system', 'gone.service');
    write('pm2/dump.pm2', 'not JSON');

    assert.deepEqual(owners(), []);
  });
});

describe('sandboxWarnings', () => {
  it('names the setting of a kernel that lets no user have walls of its own (X1)', () => {
    const restricted = sandboxWarnings((name) => (name === 'kernel/apparmor_restrict_unprivileged_userns' ? '1' : ''));

    assert.equal(restricted.length, 1);
    assert.match(String(restricted[0]), /kernel\.apparmor_restrict_unprivileged_userns is 1/);
    assert.deepEqual(
      sandboxWarnings((name) => (name === 'user/max_user_namespaces' ? '15000' : '')),
      [],
    );
  });
});
