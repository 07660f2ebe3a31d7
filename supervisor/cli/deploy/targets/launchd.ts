// `svc deploy init launchd`: the agent that `svc service install` would write on this Mac, to be reviewed first. It is the one target whose file
// holds paths of this machine: launchd expands none.
import { launchdLabel } from '../../service/names.ts';
import { renderPlist } from '../../service/render.ts';
import { serviceFacts } from '../../service/service-of.ts';
import type { DeployTarget } from '../target.ts';
import { headLine, template } from '../template.ts';

const TEMPLATE = 'launchd/agent.plist';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

export const target: DeployTarget = {
  name: 'launchd',
  summary: 'the launch agent of this project on this Mac, to be reviewed',
  options: [],
  plan({ project, env }) {
    const label = launchdLabel(project.folder);
    const text = renderPlist(template(TEMPLATE), serviceFacts({ project: project.folder, name: label, env }));
    return {
      files: [
        {
          path: `deploy/launchd/${label}.plist`,
          text: text.replace(DECLARATION, `${DECLARATION}<!-- ${headLine(TEMPLATE)} -->\n`),
          mode: 0o644,
        },
      ],
      next: ['svc service install', 'svc service start', 'svc service status'],
      notes: [
        'The file is for review: svc service install writes the same to ~/Library/LaunchAgents. It has paths of this machine, so it belongs in no repository.',
        'No token is in it: the worker reads .env by itself, and keeps its log within supervisor.log.',
        ...(process.platform === 'darwin'
          ? []
          : ['This is no Mac: run it there, so that Node and project have the paths of that machine.']),
      ],
    };
  },
};
