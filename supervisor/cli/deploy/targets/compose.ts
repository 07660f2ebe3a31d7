// `svc deploy init compose`: an image of the project and the container that runs it, for Docker or Podman on one machine.
//
//   COMPOSE-1  No file that is written here holds a value of a variable. `.env` alone does, and no image gets it.
//   COMPOSE-2  The program is the first child of the container's init: a script between them would keep SIGTERM from it.
//   COMPOSE-3  Image, container and volumes are of this project alone, also beside one whose package has the same name. A file that was written keeps
//              its name wherever the folder goes: with another one the state would be left behind. The name is that of the volume with the state, also in
//              a file that an older svc wrote or somebody edited.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { variableOf } from '../../../../shared/config/references.ts';
import { isRecord } from '../../../../shared/config/schema/json-schema.ts';
import { readYaml } from '../../../../shared/config/yaml-tree.ts';
import { CONFIG_FILE, ENV_FILE } from '../../../../shared/files/paths.ts';
import { textOption } from '../../options.ts';
import { pathHash } from '../../service/names.ts';
import { fill } from '../../service/render.ts';
import { envExample } from '../env-example.ts';
import { DEPLOY_PORT, type DeployProject, INIT_START, refused, requireReferences, stopSeconds } from '../project.ts';
import type { DeployTarget } from '../target.ts';
import { headOf, template, withHead } from '../template.ts';

const COMPOSE_FILE = 'compose.yml';

export const target: DeployTarget = {
  name: 'compose',
  summary: 'Dockerfile, .dockerignore and compose.yml: the host as one container',
  options: [],
  plan({ project, options }) {
    requireReferences(project);
    const own = ownName(project, textOption(options, 'name'));
    const values = {
      NAME: own.name,
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
      notes: [...own.notes, ...(isFilledIn ? [] : [`fill in ${ENV_FILE} before the container starts`])],
    };
  },
};

interface OwnName {
  readonly name: string;
  readonly notes: readonly string[];
}

/** COMPOSE-3: the package's name with some digits of the folder's path. `--name` sets the whole. */
function ownName({ folder, name }: DeployProject, given: string | undefined): OwnName {
  if (given !== undefined) return { name, notes: [] };
  const file = join(folder, COMPOSE_FILE);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (headOf(text) === undefined) return { name: `${name}-${pathHash(realpathSync(folder))}`, notes: [] };
  return writtenName(folder, readYaml(text).value);
}

/** Throws `refused` where the file names neither the volume with the state nor anything else after the project. */
function writtenName(folder: string, written: unknown): OwnName {
  const at = (...path: readonly string[]): string =>
    String(path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), written) ?? '');
  const [volume, project, image] = [at('volumes', 'state', 'name'), at('name'), at('services', 'svc', 'image')];
  const name = [/^(?<name>.+)-state$/u.exec(volume)?.groups?.['name'], project, image.split(':')[0]].find(
    (found) => found !== undefined && /^[a-z][a-z0-9-]*$/u.test(found),
  );
  if (name === undefined)
    throw refused(
      `${COMPOSE_FILE} holds no name of a volume, of the Compose project or of an image: another name would leave the state behind`,
      'docker volume ls shows NAME-state; then svc deploy init compose --name NAME --force',
    );
  const former = project === '' ? composeName(folder) : project;
  const note = `remove the container of before, which keeps the port, before the next one starts: docker compose -p ${former} down`;
  return { name, notes: former === name ? [] : [note] };
}

/** The name that Compose gives a project whose file has none. */
const composeName = (folder: string): string =>
  basename(realpathSync(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/gu, '')
    .replace(/^[_-]+/u, '');

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
