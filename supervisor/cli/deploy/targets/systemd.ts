// `svc deploy init systemd`: the templated pair for machines that other tools set up. `svc service install` writes and registers it for this machine.

import { textOption } from '../../options.ts';
import { renderUnit } from '../../service/render.ts';
import { DEPLOY_PORT } from '../project.ts';
import type { DeployTarget } from '../target.ts';
import { template, withHead } from '../template.ts';

const CLI = '/srv/svc/%i/node_modules/svc/dist/cli.js';
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const STOP_SECONDS = 20;

export const target: DeployTarget = {
  name: 'systemd',
  summary: 'svc@.service and svc@.socket, a project for each user in /srv/svc/<user>',
  options: ['node', 'instance', 'port'],
  plan({ options }) {
    const facts = {
      name: 'svc@',
      project: '/srv/svc/%i',
      stateDir: '/srv/svc/%i/.svc',
      dataDir: '/srv/svc/%i/data',
      node: textOption(options, 'node') ?? '/usr/bin/node',
      workerOptions: [],
      cli: CLI,
      path: SYSTEM_PATH,
      host: '127.0.0.1',
      port: DEPLOY_PORT,
      stopSeconds: STOP_SECONDS,
    };
    return {
      files: ['systemd/svc@.service', 'systemd/svc@.socket'].map((path) => ({
        path: `deploy/${path}`,
        text: withHead(path, renderUnit(template(path), facts)),
        mode: 0o644,
      })),
      next: [
        'sudo cp deploy/systemd/svc@.* /etc/systemd/system/',
        'sudo systemctl daemon-reload',
        'sudo systemctl enable --now svc@alice.socket svc@alice.service',
      ],
    };
  },
};
