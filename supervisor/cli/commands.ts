// The table of commands: words, summary, and the command's file. Help, completions and the check of words need no other data.
import type { Command } from './command.ts';

export interface CommandEntry {
  readonly noun: string;
  readonly verb?: string;
  readonly summary: string;
  load(): Promise<{ readonly command: Command } | { readonly commands: readonly Command[] }>;
}

const entry = (words: string, summary: string, load: CommandEntry['load']): CommandEntry => {
  const [noun = '', verb] = words.split(' ');
  return { noun, ...(verb === undefined ? {} : { verb }), summary, load };
};

const inbox: CommandEntry['load'] = () => import('./commands/inbox.ts');
const outbox: CommandEntry['load'] = () => import('./commands/outbox.ts');
const endpoints: CommandEntry['load'] = () => import('./commands/endpoints.ts');
const ingress: CommandEntry['load'] = () => import('./commands/ingress.ts');
const release: CommandEntry['load'] = () => import('./commands/release.ts');
const webhooks: CommandEntry['load'] = () => import('./commands/webhooks.ts');
const seeWorkroom: CommandEntry['load'] = () => import('./commands/workroom/see.ts');
const changeWorkroom: CommandEntry['load'] = () => import('./commands/workroom/change.ts');
const proveWorkroom: CommandEntry['load'] = () => import('./commands/workroom/prove.ts');
const keepWorkroom: CommandEntry['load'] = () => import('./commands/workroom/keep.ts');
const readCheckpoints: CommandEntry['load'] = () => import('./commands/checkpoint/read.ts');
const archives: CommandEntry['load'] = () => import('./commands/checkpoint/archive.ts');
const tasks: CommandEntry['load'] = () => import('./commands/tasks.ts');
const jobs: CommandEntry['load'] = () => import('./commands/jobs/jobs.ts');
const alerts: CommandEntry['load'] = () => import('./commands/alerts.ts');
const service: CommandEntry['load'] = () => import('./commands/service/control.ts');

export const COMMANDS: readonly CommandEntry[] = [
  entry('init', 'Makes a project', () => import('./commands/init.ts')),
  entry(
    'doctor',
    'Checks project, machine and state; or asks a live host with --live',
    () => import('./commands/doctor.ts'),
  ),
  entry('accept', 'Answers six questions about the running host', () => import('./commands/accept.ts')),
  entry('chat', 'Chats with the bot in this terminal', () => import('./commands/chat.ts')),
  entry(
    'runtime start',
    'Starts the runtime: here, as a daemon, or once as a test',
    () => import('./commands/runtime/start.ts'),
  ),
  entry('runtime stop', 'Stops it after a drain', () => import('./commands/runtime/stop.ts')),
  entry(
    'runtime restart',
    'Restarts the worker, and waits until it is ready',
    () => import('./commands/runtime/restart.ts'),
  ),
  entry(
    'runtime reload',
    'Takes in a changed configuration without a restart',
    () => import('./commands/runtime/reload.ts'),
  ),
  entry(
    'runtime status',
    'Says what runs, since when, and how the last workers ended',
    () => import('./commands/runtime/status.ts'),
  ),
  entry('runtime logs', 'Shows and follows the runtime log', () => import('./commands/runtime/logs.ts')),
  entry(
    'service install',
    'Installs the service that starts it with the machine',
    () => import('./commands/service/install.ts'),
  ),
  entry('service uninstall', 'Stops the service and removes it', () => import('./commands/service/uninstall.ts')),
  entry('service start', 'Starts the installed service', service),
  entry('service stop', 'Stops it after a drain', service),
  entry('service status', 'Says what the owner of the service tells', service),
  entry('service logs', 'Shows the log of the service', service),
  entry('deploy init', 'Writes the files of a target into the project', () => import('./commands/deploy.ts')),
  entry('ingress pause', 'Parks or rejects what comes in', ingress),
  entry('ingress resume', 'Opens it again', ingress),
  entry('ingress status', 'Says whether deliveries are taken', ingress),
  entry('checkpoint create', 'Makes a restore point', () => import('./commands/checkpoint/create.ts')),
  entry('checkpoint list', 'Lists checkpoints, needs no host', readCheckpoints),
  entry(
    'checkpoint restore',
    'Restores the state of a checkpoint; the host is stopped',
    () => import('./commands/checkpoint/restore.ts'),
  ),
  entry('checkpoint show', 'Shows one checkpoint', readCheckpoints),
  entry('checkpoint verify', 'Proves that it can be restored', () => import('./commands/checkpoint/verify.ts')),
  entry('checkpoint export', 'Writes one as an archive', archives),
  entry('checkpoint import', 'Takes an archive in', archives),
  entry('checkpoint prune', 'Removes old checkpoints', () => import('./commands/checkpoint/prune.ts')),
  entry('release begin', 'Pauses, waits for quiet, makes the restore point', release),
  entry('release check', 'Installs and tries the new code beside the old', release),
  entry('release start', 'Exchanges the code and starts it', release),
  entry('release accept', 'Asks whether the new version is right', release),
  entry('release observe', 'Opens ingress and watches', release),
  entry('release finish', 'Ends the release', release),
  entry('release rollback', 'Goes back to code and data of before', release),
  entry('release status', 'Says how the release stands and does', release),
  entry('release history', 'Lists releases', release),
  entry('inbox list', 'Lists items of the inbox', inbox),
  entry('inbox show', 'Shows one item', inbox),
  entry('inbox replay', 'Puts a dead item back in line', inbox),
  entry('inbox hold', 'Keeps an item from its handlers', inbox),
  entry('inbox drop', 'Gives an item up', inbox),
  entry('outbox list', 'Lists items of the outbox', outbox),
  entry('outbox show', 'Shows one item', outbox),
  entry('outbox replay', 'Puts a dead or unknown item back in line', outbox),
  entry('outbox hold', 'Keeps a send from its platform', outbox),
  entry('outbox drop', 'Gives an item up', outbox),
  entry('workroom status', 'Says how journal and boards stand', seeWorkroom),
  entry('workroom list', 'Lists items', seeWorkroom),
  entry('workroom show', 'Shows one item', seeWorkroom),
  entry('workroom log', 'Shows events of the journal', seeWorkroom),
  entry('workroom do', 'Carries out a command on an item', changeWorkroom),
  entry('workroom member', 'The people and agents of the team', changeWorkroom),
  entry('workroom board', 'Boards, their roles and conversations', changeWorkroom),
  entry('workroom release', 'Takes a damaged stream into use again', changeWorkroom),
  entry('workroom erase', 'Erases the words of an item or of a member', changeWorkroom),
  entry('workroom verify', 'Proves the journal, without a host', proveWorkroom),
  entry('workroom export', 'Writes the journal for a proof elsewhere', proveWorkroom),
  entry('workroom convert', 'Moves the journal to files, or to the database', keepWorkroom),
  entry('workroom rebuild', 'Makes the board anew from the journal', keepWorkroom),
  entry('tasks list', 'Lists waiting tasks and next times', tasks),
  entry('tasks cancel', 'Takes a waiting task away', tasks),
  entry('endpoints list', 'Lists endpoints with state and last error', endpoints),
  entry('endpoints show', 'Shows one endpoint', endpoints),
  entry('endpoints enable', 'Opens an endpoint', endpoints),
  entry('endpoints disable', 'Closes an endpoint', endpoints),
  entry('endpoints reconnect', 'Connects an endpoint anew', endpoints),
  entry('webhooks url', 'Prints the addresses to register at platforms', webhooks),
  entry('webhooks register', 'Registers the address where the platform has an API', webhooks),
  entry('jobs list', 'Lists scheduled jobs with next due time and last run', jobs),
  entry('jobs show', 'Shows one job', jobs),
  entry('jobs add', 'Adds a job to the file', jobs),
  entry('jobs edit', 'Changes keys of a job', jobs),
  entry('jobs remove', 'Removes a job', jobs),
  entry('jobs pause', 'Pauses a job', jobs),
  entry('jobs resume', 'Goes on with a paused job', jobs),
  entry('jobs run', 'Runs a job now', jobs),
  entry('jobs history', 'Lists runs of jobs', jobs),
  entry('jobs next', 'Says when a job is due', jobs),
  entry('jobs check', 'Checks the jobs file', jobs),
  entry('alerts', 'Says what fires', alerts),
  entry('alerts silence', 'Tells nobody of an alert for a time', alerts),
  entry('alerts unsilence', 'Ends a silence', alerts),
  entry('alerts test', 'Sends a test message to the targets', alerts),
  entry('alerts rules', 'Lists the rules, or prints them for Prometheus', alerts),
  entry('plugins list', 'Lists the plugins of the current generation', () => import('./commands/plugins.ts')),
  entry('events tail', 'Follows the event stream', () => import('./commands/events-tail.ts')),
  entry('config check', 'Checks svc.config.yml and .env', () => import('./commands/config/check.ts')),
  entry('config show', 'Prints the effective configuration', () => import('./commands/config/show.ts')),
  entry('config schema', 'Prints the JSON Schema of svc.config.yml', () => import('./commands/config/schema.ts')),
  entry('token create', 'Makes a token of 256 random bits', () => import('./commands/token-create.ts')),
  entry('help exit-codes', 'The exit codes and what they mean', () => import('./commands/help.ts')),
  entry('help environment', 'The variables that svc reads', () => import('./commands/help.ts')),
  entry('help guides', 'Where the guides lie', () => import('./commands/help.ts')),
  entry('help completions', 'Completions for bash, zsh or fish', () => import('./commands/help.ts')),
];

export const nouns = (): readonly string[] => [...new Set(COMMANDS.map(({ noun }) => noun))];
export const verbsOf = (noun: string): readonly string[] =>
  COMMANDS.flatMap((command) => (command.noun === noun && command.verb !== undefined ? [command.verb] : []));

/** Loads the command with its options. */
export async function loadCommand({ noun, verb, load }: CommandEntry): Promise<Command> {
  const module = await load();
  const commands = 'commands' in module ? module.commands : [module.command];
  const command = commands.find((candidate) => candidate.noun === noun && candidate.verb === verb);
  if (command === undefined) throw new Error(`${noun} ${verb ?? ''} is in the table, but not in its file`);
  return command;
}
