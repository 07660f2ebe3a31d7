// The README of a new project, as text.
import { type Platform, platformSteps } from './platforms.ts';

export interface ReadmeFacts {
  readonly name: string;
  readonly kind: 'bot' | 'workroom';
  readonly port: number;
  readonly platforms: readonly Platform[];
  readonly sample: boolean;
  /** What package.json asks for. */
  readonly svc: string;
}

export function projectReadme({ name, kind, port, platforms, sample, svc }: ReadmeFacts): string {
  const isPacked = svc.startsWith('file:vendor/');
  const first = kind === 'workroom' ? '`/work`' : sample ? '`/hello`' : '`/ping`';
  return [
    `# ${name}`,
    `${kind === 'workroom' ? 'A team Workroom' : 'A chat bot'} on [svc](node_modules/svc/README.md).`,
    platforms.length === 0 ? NO_PLATFORM : platforms.map(platformText).join('\n\n'),
    '## Run',
    fenced(['npm install', ...(sample ? ['npm test'] : []), 'npm run dev        # takes changes in']),
    `Open http://127.0.0.1:${port}/, sign in with \`HTTP_TOKEN\` of \`.env\`, and write ${first}. In production:`,
    fenced([
      'npm run build && npm start',
      'npx svc runtime start --daemon   # in the background',
      'npx svc doctor                   # what is wrong, and what mends it',
    ]),
    ...(kind === 'workroom' ? ['## The board', BOARD, fenced(BOARD_COMMANDS)] : []),
    '## Files',
    table([
      ['file', 'what it is'],
      ['`svc.config.yml`', 'configuration; `npx svc config check` finds faults'],
      ['`.env`', 'secrets; never committed'],
      ...(sample
        ? [['`plugins/`', 'the bot itself, TypeScript; `npm run build` compiles it to `dist/`'] as const]
        : []),
      ...(sample && kind === 'workroom'
        ? [['`data/schedule-jobs.json`', 'a job that tells the room `demo` each morning what is blocked'] as const]
        : []),
      ...(isPacked ? [['`vendor/`', 'svc as a packed file, committed'] as const] : []),
      ['`.svc/`', 'the database and the log of the host; never committed'],
    ]),
    `Guides: \`npx svc help guides\`. A newer svc: \`npm install ${isPacked ? './vendor/svc-<version>.tgz' : 'svc@<version>'}\`, \`npm run build\`, \`npx svc runtime restart\`.`,
  ]
    .join('\n\n')
    .concat('\n');
}

const BOARD =
  'A running host gets its board and its people by these. The second prints a line that ann types in the chat: `/work join <code>`. [The guide](node_modules/svc/deploy/guide/workroom.md) tells the rest.';
const BOARD_COMMANDS = [
  'npx svc workroom board add demo --name Demo --conversation sandbox:room-demo',
  'npx svc workroom member add ann',
  'npx svc workroom board grant demo --role ann=owner',
];

const NO_PLATFORM =
  'It has no platform yet, only a chat page. Keys and token of each platform: `node_modules/svc/worker/adapters/<name>/README.md`.';

const platformText = (platform: Platform): string =>
  [
    `## ${platform.title}`,
    [...platformSteps(platform), `check it: \`npx svc doctor --endpoint ${platform.name}~main\``]
      .map((step, index) => `${index + 1}. ${step}`)
      .join('\n'),
    `All keys: [node_modules/svc/worker/adapters/${platform.name}/README.md](node_modules/svc/worker/adapters/${platform.name}/README.md).`,
  ].join('\n\n');

const fenced = (lines: readonly string[]): string => ['```sh', ...lines, '```'].join('\n');

const table = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
