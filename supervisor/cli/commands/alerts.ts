// `svc alerts`, and `svc alerts show|silence|unsilence|test|rules`.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prometheusRules } from '../../../shared/alerts/prometheus.ts';
import { RUNBOOK } from '../../../shared/alerts/rule.ts';
import { ACTIVE_RULES } from '../../../shared/alerts/rules.ts';
import { setRules } from '../../../shared/alerts/set-rules.ts';
import type { AlertTested, ShownAlert, ShownAlerts, ShownSilence } from '../../../shared/api/monitoring/alert.ts';
import { loadConfig } from '../../../shared/config/load.ts';
import { nearest } from '../../../shared/config/nearest.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command, CommandContext, Printer } from '../command.ts';
import { parseDuration } from '../duration.ts';
import { ownPackage } from '../init/own-package.ts';
import { textArgument, textOption } from '../options.ts';
import { shown } from '../output/printable.ts';

const list: Command = {
  noun: 'alerts',
  summary:
    'Says what fires and what to do about it; exit 0 when nothing fires, 1 when something does or cannot be told',
  examples: ['svc alerts', 'svc alerts --json'],
  async run({ host, print, json }) {
    const { body } = await (await host()).request('GET', '/api/alerts');
    const found = body as ShownAlerts;
    if (json) print.json(found);
    else report(print, found);
    return found.firing === 0 && found.unknown.length === 0 ? EXIT.ok : EXIT.failed;
  },
};

const show: Command = {
  noun: 'alerts',
  verb: 'show',
  args: '<name>',
  summary: 'Shows what an alert means, where to look and what to do; needs no host',
  examples: ['svc alerts show SvcBacklog'],
  run({ project, print, json }, [argument]) {
    const { name } = nameOf(argument);
    const names = ACTIVE_RULES.map((rule) => rule.name);
    if (!names.includes(name)) {
      const near = nearest(name, names);
      throw new SvcError('not_found', `${name} is no rule`, {
        hint: near === undefined ? '`svc alerts rules` lists them' : `did you mean ${near}?`,
      });
    }
    const text = sectionOf(name, project());
    if (json) print.json({ name, text });
    else print.text(text);
    return Promise.resolve(EXIT.ok);
  },
};

/** Of the project's runbook, which its people may have changed, else of the one that came with svc. */
function sectionOf(name: string, project: string): string {
  for (const folder of [project, ownPackage().root]) {
    const file = join(folder, RUNBOOK);
    const sections = existsSync(file) ? readFileSync(file, 'utf8').split(/^(?=## )/mu) : [];
    const found = sections.find((section) => section.startsWith(`## ${name}\n`));
    if (found !== undefined) return found.trim();
  }
  throw new SvcError('internal', `${RUNBOOK} of svc has no section ${name}: its package is not whole`);
}

const silence: Command = {
  noun: 'alerts',
  verb: 'silence',
  args: '<name>',
  summary: 'Tells nobody of an alert, or of all of a name, for a time',
  options: [
    { flags: '--for <duration>', description: 'How long: 90s, 30m, 2h, 2d' },
    { flags: '--reason <text>', description: 'Why; shown to operators' },
  ],
  examples: [
    'svc alerts silence SvcBacklog --for 2h --reason "import of the archive"',
    'svc alerts silence SvcEndpointOffline:root/irc:irc~libera --for 1d --reason "moves to another network"',
  ],
  async run({ host, print, json }, [argument], options) {
    const duration = textOption(options, 'for');
    const reason = textOption(options, 'reason');
    if (duration === undefined) throw new SvcError('usage', 'for how long? --for takes a duration such as 30m or 2h');
    if (reason === undefined) throw new SvcError('usage', 'why? --reason takes a text, which operators see');
    const until = new Date(Date.now() + parseDuration('--for', duration)).toISOString();
    const { body } = await post(host, 'silence', { ...nameOf(argument), until, reason });
    const made = body as ShownSilence;
    if (json) print.json(made);
    else print.text(`silenced until ${made.until}: ${idOf(made)}; svc alerts unsilence ${idOf(made)} ends it`);
    return EXIT.ok;
  },
};

const unsilence: Command = {
  noun: 'alerts',
  verb: 'unsilence',
  args: '<name>',
  summary: 'Ends a silence: what still fires is told',
  examples: ['svc alerts unsilence SvcBacklog'],
  async run({ host, print, json }, [argument]) {
    const ended = nameOf(argument);
    await post(host, 'unsilence', ended);
    if (json) print.json({ ended });
    else print.text(`not silenced any more: ${idOf(ended)}`);
    return EXIT.ok;
  },
};

const test: Command = {
  noun: 'alerts',
  verb: 'test',
  summary: 'Sends a test message to the targets of alerts.notify',
  options: [{ flags: '--to <endpoint>', description: 'Only to the targets of this account' }],
  examples: ['svc alerts test', 'svc alerts test --to irc~libera'],
  async run({ host, print, json }, _args, options) {
    const endpoint = textOption(options, 'to');
    const { body } = await post(host, 'test', endpoint === undefined ? {} : { endpoint });
    const { sends } = body as AlertTested;
    if (json) print.json({ sends });
    else
      for (const send of sends)
        print.text(`in line for ${shown(send.endpoint)} ${shown(send.conversation)}: svc outbox show ${send.id}`);
    return EXIT.ok;
  },
};

const rules: Command = {
  noun: 'alerts',
  verb: 'rules',
  summary: 'Lists the rules with the settings of this project; needs no host',
  options: [
    { flags: '--prometheus', description: 'Prints them as a file of rules for Prometheus' },
    { flags: '--runbook <url>', description: 'With --prometheus: address of the runbook', default: RUNBOOK },
  ],
  examples: ['svc alerts rules', 'svc alerts rules --prometheus > alerts.yml'],
  async run({ project, env, print, json }, _args, options) {
    const { config } = loadConfig({ project: project(), mode: 'test', environment: env, servesNothing: true });
    const set = setRules(config.alerts.rules);
    if (json) print.json({ rules: set });
    else if (options['prometheus'] === true)
      print.text(prometheusRules(set, { runbook: textOption(options, 'runbook') ?? RUNBOOK }).trimEnd());
    else
      print.table(
        ['rule', 'severity', 'for', 'threshold', 'summary'],
        set.map(({ name, severity, for: wait, shape, summary }) => [
          name,
          severity,
          wait,
          'threshold' in shape ? String(shape.threshold) : 'Prometheus alone',
          summary,
        ]),
      );
    return EXIT.ok;
  },
};

export const commands: Command[] = [list, show, silence, unsilence, test, rules];

const post = async (host: CommandContext['host'], action: string, body: object) =>
  (await host()).request('POST', `/api/alerts/${action}`, { body, idempotencyKey: randomUUID() });

/** `NAME` or `NAME:KEY`. */
function nameOf(argument: string | readonly string[] | undefined): { readonly name: string; readonly key?: string } {
  const text = textArgument(argument, '<name>');
  const at = text.indexOf(':');
  return at === -1 ? { name: text } : { name: text.slice(0, at), key: text.slice(at + 1) };
}

const idOf = ({ name, key = '' }: { readonly name: string; readonly key?: string }): string =>
  key === '' ? name : `${name}:${key}`;

function report(print: Printer, { alerts, unknown, silences, targets, at }: ShownAlerts): void {
  if (at === null) print.note('the host has not looked yet: it does half a minute after its start');
  const firing = alerts.filter(({ state }) => state !== 'pending');
  if (firing.length === 0 && unknown.length === 0) print.text(print.color.good('nothing fires'));
  for (const alert of firing) {
    const color = alert.severity === 'critical' ? print.color.bad : print.color.warn;
    print.text(`${color(alert.severity)} ${print.color.bold(shown(idOf(alert)))}: ${shown(alert.summary)}`);
    print.text(`  since ${alert.since}${noteOf(alert)}`);
    print.text(`  ${shown(alert.remedy)}`);
  }
  for (const alert of alerts.filter(({ state }) => state === 'pending'))
    print.text(print.color.dim(`pending since ${alert.since}: ${shown(idOf(alert))}, ${shown(alert.summary)}`));
  for (const { name, figures } of unknown)
    print.text(
      `${print.color.warn('unknown')} ${name}: ${figures.join(', ')} cannot be read; svc doctor --live URL says why`,
    );
  for (const one of silences)
    print.text(
      print.color.dim(
        `silenced until ${one.until}: ${shown(idOf(one))}${one.reason === undefined ? '' : ` (${shown(one.reason)})`}`,
      ),
    );
  if (targets === 0) print.note('nobody is told: alerts.notify of svc.config.yml names no target');
}

function noteOf({ state, silenced, mutedBy, flapping, toldAt }: ShownAlert): string {
  const notes = [
    ...(state === 'quiet' ? ['quiet now'] : []),
    ...(flapping ? ['flapping'] : []),
    ...(silenced ? ['silenced'] : []),
    ...(mutedBy === null ? [] : [`muted by ${shown(mutedBy)}`]),
    ...(toldAt === null ? [] : [`told ${toldAt}`]),
  ];
  return notes.map((note) => `, ${note}`).join('');
}
