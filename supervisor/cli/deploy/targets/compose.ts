// `svc deploy init compose`: an image of the project and the container that runs it, for Docker or Podman on one machine.
//
//   COMPOSE-1  No file that is written here holds a value of a variable. `.env` alone does, and no image gets it.
//   COMPOSE-2  The program is the first child of the container's init: a script between them would keep SIGTERM from it.
//   COMPOSE-3  Image, container and volumes are of this project alone, also beside one whose package has the same name. A file that was written keeps
//              its name wherever the folder goes: with another one the state would be left behind.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { variableOf } from '../../../../shared/config/references.ts';
import { CONFIG_FILE, ENV_FILE } from '../../../../shared/files/paths.ts';
import { textOption } from '../../options.ts';
import { pathHash } from '../../service/names.ts';
import { fill } from '../../service/render.ts';
import { envExample } from '../env-example.ts';
import { DEPLOY_PORT, type DeployProject, INIT_START, refused, requireReferences } from '../project.ts';
import type { DeployTarget } from '../target.ts';
import { headOf, template, withHead } from '../template.ts';

/** Longer than the drain, for the last steps of a stop. */
const STOP_MARGIN_SECONDS = 5;
const SHORTEST_STOP_SECONDS = 20;
const COMPOSE_FILE = 'compose.yml';

export const target: DeployTarget = {
  name: 'compose',
  summary: 'Dockerfile, .dockerignore and compose.yml: the host as one container',
  options: [],
  plan({ project, options }) {
    requireReferences(project);
    const values = {
      NAME: ownName(project, textOption(options, 'name')),
      PACKAGES: packageLines(project).join('\n'),
      COMMAND: command(project),
      TOKEN: tokenVariable(project),
      PORT: String(publishedPort(project)),
      STOP_SECONDS: String(stopSeconds(project)),
    };
    const file = (path: string, from: string) => ({
      path,
      text: withHead(`compose/${from}`, fill(template(`compose/${from}`), values)),
      mode: 0o644 as const,
    });
    const isFilledIn = existsSync(join(project.folder, ENV_FILE));
    return {
      files: [
        file('Dockerfile', 'Dockerfile'),
        file('.dockerignore', 'dockerignore'),
        file(COMPOSE_FILE, 'compose.yml'),
        { path: '.env.example', text: envExample(project.raw([])), mode: 0o644, keepsOld: true },
      ],
      next: [
        ...(isFilledIn ? [] : [`cp .env.example ${ENV_FILE} && chmod 600 ${ENV_FILE}`]),
        'docker compose build',
        'docker compose up -d',
        'docker compose exec svc svc runtime status',
      ],
      notes: isFilledIn ? [] : [`fill in ${ENV_FILE} before the container starts`],
    };
  },
};

/** COMPOSE-3: the package's name with some digits of the folder's path. `--name` sets the whole. */
function ownName({ folder, name }: DeployProject, given: string | undefined): string {
  if (given !== undefined) return name;
  return writtenName(join(folder, COMPOSE_FILE)) ?? `${name}-${pathHash(realpathSync(folder))}`;
}

function writtenName(file: string): string | undefined {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return headOf(text) === undefined ? undefined : /^name: "([a-z][a-z0-9-]*)"$/mu.exec(text)?.[1];
}

/** What `npm ci` needs: the lists of packages, the settings of npm, and packages that lie in the project. */
function packageLines({ folder, packedFiles, linkedFolders }: DeployProject): readonly string[] {
  const settings = existsSync(join(folder, '.npmrc')) ? ['.npmrc'] : [];
  return [
    copy(['package.json', 'package-lock.json', ...settings], './'),
    ...packedFiles.map((path) => copy([path], path)),
    ...linkedFolders.map((path) => copy([path], `${path}/`)),
  ];
}

/** The form as JSON takes any path. */
const copy = (from: readonly string[], to: string): string =>
  [...from, to].every((path) => /^[\w./@-]+$/u.test(path))
    ? `COPY ${[...from, to].join(' ')}`
    : `COPY ${JSON.stringify([...from, to])}`;

/** COMPOSE-2. */
function command({ scripts: { start } }: DeployProject): string {
  if (start.trim() === INIT_START)
    return JSON.stringify(INIT_START.replace('exec node', 'node --max-semi-space-size=64').split(' '));
  if (!/^exec\s/u.test(start.trim()))
    throw refused(
      `the script start is "${start}", without exec: no signal to stop would reach the host in a container`,
      `begin it with exec; svc init writes ${INIT_START}`,
    );
  return '["npm", "start"]';
}

/** Compose refuses a container without the token. */
function tokenVariable({ raw }: DeployProject): string {
  const name = variableOf(raw(['http', 'token']));
  if (name !== undefined) return name;
  throw refused(
    `http.token in ${CONFIG_FILE} is no reference: a container gets its token from a variable`,
    'token: ${HTTP_TOKEN}',
  );
}

/** The port that the project has outside of containers, so that two projects of one machine can keep theirs. */
function publishedPort({ raw }: DeployProject): number {
  const port = Number(/:-(?<port>\d+)\}$/u.exec(String(raw(['http', 'port'])))?.groups?.['port']);
  return port > 0 ? port : DEPLOY_PORT;
}

function stopSeconds({ raw }: DeployProject): number {
  const drain = raw(['supervisor', 'stopTimeoutSeconds']);
  return Math.max(SHORTEST_STOP_SECONDS, typeof drain === 'number' ? drain + STOP_MARGIN_SECONDS : 0);
}
