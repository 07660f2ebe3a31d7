// The message of a telling. Names that people chose (of accounts, jobs, boards, the project) stand as code: in no message are they markup or a
// mention.

import { type Alert, idOf } from '../../shared/alerts/alert-machine.ts';
import { runbookOf } from '../../shared/alerts/rule.ts';
import type { HostRule } from '../../shared/alerts/set-rules.ts';
import type { Telling } from '../../shared/alerts/tell.ts';
import type { Rich, Segment } from '../sdk/index.ts';

export interface MessageOf {
  readonly project: string;
  readonly runtimeId: string;
  /** Of the worker that crashed last. */
  readonly crashed: string | undefined;
  readonly rules: ReadonlyMap<string, HostRule>;
  /** It stands for earlier ones that did not go out. */
  readonly isLate?: boolean;
}

/** More would only fill the conversation. */
const MOST_SHOWN = 10;
const MOST_OVER = 20;

export function messageOf(tellings: readonly Telling[], of: MessageOf): Rich {
  return of.isLate === true ? lateMessage(tellings, of) : { segments: blocks(tellings, of) };
}

/** What holds now, and in one line what is over. */
function lateMessage(tellings: readonly Telling[], of: MessageOf): Rich {
  const over = tellings.filter(({ kind }) => kind === 'resolved');
  const open = tellings.filter(({ kind }) => kind !== 'resolved');
  const names = over
    .slice(0, MOST_OVER)
    .flatMap(({ alert }, at) => [...(at === 0 ? [] : [plain(', ')]), code(idOf(alert))]);
  const more = over.length > MOST_OVER ? [plain(` and ${over.length - MOST_OVER} more`)] : [];
  const head: Segment[] = [
    { kind: 'text', text: 'LATE', marks: ['bold'] },
    plain(': nothing could be sent here for a time; project '),
    code(of.project),
  ];
  return {
    segments: [
      ...head,
      ...(over.length === 0 ? [] : [plain('\nRESOLVED meanwhile: '), ...names, ...more]),
      ...(open.length === 0 ? [] : [plain('\n\n'), ...blocks(open, of)]),
    ],
  };
}

function blocks(tellings: readonly Telling[], of: MessageOf): readonly Segment[] {
  const sorted = tellings.toSorted((a, b) => rankOf(a) - rankOf(b));
  const shown = sorted
    .slice(0, MOST_SHOWN)
    .flatMap((telling, at) => [...(at === 0 ? [] : [plain('\n\n')]), ...block(telling, of)]);
  const rest = sorted.length - MOST_SHOWN;
  return rest > 0 ? [...shown, plain(`\n\nand ${rest} more: `), code('svc alerts')] : shown;
}

export const testMessage = ({ project, runtimeId }: Pick<MessageOf, 'project' | 'runtimeId'>): Rich => ({
  segments: [
    { kind: 'text', text: 'TEST', marks: ['bold'] },
    plain(' of svc alerts: project '),
    code(project),
    plain(', runtimeId '),
    code(runtimeId),
    plain('. Alerts of this host arrive here. Nothing is to be done.'),
  ],
});

const rankOf = ({ kind, alert }: Telling): number =>
  (kind === 'resolved' ? 2 : 0) + (alert.severity === 'critical' ? 0 : 1);

function block({ kind, alert }: Telling, { project, runtimeId, crashed, rules }: MessageOf): readonly Segment[] {
  const rule = rules.get(alert.name);
  const values = valuesOf(alert);
  const isCrash = alert.name.startsWith('SvcCrash');
  const facts = [
    ['project', project],
    ...Object.entries(alert.labels),
    ['runtimeId', isCrash ? (crashed ?? runtimeId) : runtimeId],
  ] as const;
  return [
    { kind: 'text', text: `${headOf(kind, alert.severity)} ${alert.name}`, marks: ['bold'] },
    plain(': '),
    ...filled(rule?.summary ?? '', values),
    plain('\n'),
    ...facts.flatMap(([name, value], at) => [plain(`${at === 0 ? '' : ', '}${name} `), code(value)]),
    plain(
      `, since ${timeText(alert.since)}${kind === 'resolved' && alert.quietSince !== null ? ` until ${timeText(alert.quietSince)}` : ''}`,
    ),
    ...(kind === 'resolved' ? [] : [plain('\nDo: '), ...filled(rule?.remedy ?? '', values)]),
    ...(kind === 'resolved' ? [] : [plain('\nRunbook: '), code(runbookOf(alert))]),
  ];
}

function headOf(kind: Telling['kind'], severity: string): string {
  const word = severity.toUpperCase();
  switch (kind) {
    case 'fired':
      return word;
    case 'still':
      return `STILL ${word}`;
    case 'flapping':
      return `FLAPPING (${severity})`;
    case 'resolved':
      return 'RESOLVED';
  }
}

/** Names in braces and text between backticks become code. */
export function filled(template: string, values: Readonly<Record<string, string>>): readonly Segment[] {
  return template.split(/(`[^`]*`|\{\w+\})/).flatMap((part): Segment[] => {
    if (part === '') return [];
    if (part.startsWith('`'))
      return [code(part.slice(1, -1).replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ''))];
    if (!/^\{\w+\}$/.test(part)) return [plain(part)];
    const name = part.slice(1, -1);
    return [name === 'value' ? plain(values[name] ?? '') : code(values[name] ?? '')];
  });
}

const valuesOf = ({ labels, value }: Pick<Alert, 'labels' | 'value'>) => ({ ...labels, value: valueText(value) });

/** A template as plain text, for lists. */
export const textOf = (template: string, alert: Pick<Alert, 'labels' | 'value'>): string =>
  template.replace(
    /\{(\w+)\}/g,
    (_, name: string) => (valuesOf(alert) as Readonly<Record<string, string>>)[name] ?? '',
  );

const valueText = (value: number): string =>
  value > 0 && value < 1 ? `${Math.round(value * 100)} %` : String(Math.round(value * 10) / 10);

const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const plain = (text: string): Segment => ({ kind: 'text', text });
const code = (text: string): Segment => ({ kind: 'text', text, marks: ['code'] });
