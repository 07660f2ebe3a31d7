// `svc help exit-codes|environment|guides|completions`.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import type { Command } from '../command.ts';
import { ownPackage } from '../init/own-package.ts';
import { completionScript, SHELLS } from '../output/completions.ts';
import { unknownWord } from '../output/usage-error.ts';

const CODES: readonly (readonly [number, string, string])[] = [
  [EXIT.ok, 'all', 'done; stopped on request; status: up and ready'],
  [EXIT.failed, 'all', 'failed or refused; status: alive but not ready; restart, reload, logs: nothing is running'],
  [EXIT.usage, 'command', 'wrong usage: one line, and the nearest valid word'],
  [EXIT.absent, 'command', 'status: nothing there; service: not installed'],
  [EXIT.restartRequested, 'worker', 'Console or command asked for a restart; drained first'],
  [EXIT.restartRequired, 'worker', 'the runtime needs a restart; drained first'],
  [EXIT.config, 'worker, command', 'configuration or secrets invalid: a restart cannot help'],
  [EXIT.forced, 'worker', 'second Ctrl-C on a terminal: forced stop'],
];

const VARIABLES: readonly (readonly [string, string])[] = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: how a configuration names it
  ['any name', 'what svc.config.yml refers to as ${NAME}; .env in the project is read too, the environment wins'],
  ['SVC_HTTP_TOKEN', 'the token of svc doctor --live'],
  [
    'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY',
    'not used, in small letters neither: accounts connect to their platforms directly',
  ],
  ['NO_COLOR, TERM=dumb, CI', 'no colours'],
  ['NOTIFY_SOCKET, INVOCATION_ID, SYSTEMD_EXEC_PID', 'set by systemd: it is the restart owner then'],
  ['pm_id, XPC_SERVICE_NAME, KUBERNETES_SERVICE_HOST', 'set by PM2, launchd, Kubernetes: likewise'],
  ['container', 'set by Podman: the init of that container is the restart owner'],
  ['PROJECT_COMMIT', 'the commit of the project, where no git tells it: set in an image'],
  ['PROJECT_IMAGE', 'the name of the image that a container runs: the steps of a release tell it'],
];

const exitCodes: Command = {
  noun: 'help',
  verb: 'exit-codes',
  summary: 'The exit codes and what they mean',
  examples: ['svc help exit-codes', 'svc help exit-codes --json'],
  run({ print }) {
    print.json(CODES.map(([code, who, meaning]) => ({ code, who, meaning })));
    print.table(
      ['code', 'who', 'meaning'],
      CODES.map(([code, who, meaning]) => [String(code), who, meaning]),
    );
    return Promise.resolve(EXIT.ok);
  },
};

const environment: Command = {
  noun: 'help',
  verb: 'environment',
  summary: 'The variables that svc reads',
  examples: ['svc help environment', 'svc help environment --json'],
  run({ print }) {
    print.json(VARIABLES.map(([name, meaning]) => ({ name, meaning })));
    print.table(['variable', 'meaning'], VARIABLES);
    return Promise.resolve(EXIT.ok);
  },
};

const guides: Command = {
  noun: 'help',
  verb: 'guides',
  summary: 'Where the guides lie that came with svc: for operators, authors and clients, and for each adapter',
  examples: ['svc help guides', 'svc help guides --json'],
  run({ print }) {
    const found = guidesBelow(ownPackage().root);
    print.json(found);
    print.table(
      ['guide', 'file'],
      found.map(({ title, file }) => [title, file]),
    );
    return Promise.resolve(EXIT.ok);
  },
};

/** In reading order. A folder stands for its pages. */
const GUIDES = ['README.md', 'deploy/guide', 'worker/sdk/guide', 'shared/api/README.md'];
/** Folders whose subfolders each have a README. */
const GUIDED = ['worker/adapters', 'worker/plugins'];

function guidesBelow(root: string): { readonly title: string; readonly file: string }[] {
  const inFolders = GUIDED.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
    readdirSync(join(root, folder))
      .sort()
      .map((name) => `${folder}/${name}/README.md`),
  );
  const pages = GUIDES.flatMap((name) => (name.endsWith('.md') ? [name] : pagesIn(root, name)));
  return [...pages, ...inFolders]
    .map((name) => join(root, name))
    .filter((file) => existsSync(file))
    .map((file) => ({ title: /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? file, file }));
}

function pagesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => `${folder}/${name}`);
}

const completions: Command = {
  noun: 'help',
  verb: 'completions',
  args: '<shell>',
  summary: `Completions for ${SHELLS.join(', ')}, made from the table of commands`,
  examples: [
    'svc help completions bash > ~/.local/share/bash-completion/completions/svc',
    'svc help completions zsh > "${fpath[1]}/_svc"',
    'svc help completions fish > ~/.config/fish/completions/svc.fish',
  ],
  async run({ print }, [name]) {
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined) throw unknownWord('shell', String(name), SHELLS);
    const script = await completionScript(shell);
    print.text(script.trimEnd());
    print.json({ shell, script });
    return EXIT.ok;
  },
};

export const commands: readonly Command[] = [exitCodes, environment, guides, completions];
