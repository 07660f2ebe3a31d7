// Checks of definitions against each other at assembly, before a user types a command or an event is missed.
import { SvcError } from '../../../shared/svc-error.ts';
import { eventKind, faultOfTypeName } from '../../events/event-types.ts';
import {
  type Capabilities,
  type CommandCapability,
  formerIds,
  type SubscriptionCapability,
} from '../../handling/plan/capabilities.ts';
import { argumentsOf, readCommand } from '../../handling/plan/command-line.ts';
import { phraseArguments } from '../../handling/plan/phrases.ts';
import { durationsFor, timesFor } from '../../handling/plan/time-words.ts';
import type { People } from '../../sdk/text/chat-line.ts';
import { refuseBadSpec, refuseBadState } from './spec-checks.ts';

/** Throws `definition_invalid` with the capability and its plugin. */
export async function refuseBadDefinitions(capabilities: Capabilities, prefix: string): Promise<void> {
  for (const capability of capabilities.all()) refuseBadSpec(capability);
  for (const state of capabilities.states()) refuseBadState(state);
  refuseFormerNames(capabilities);
  for (const command of capabilities.ofKind('command')) await refuseBadCommand(command, prefix);
  for (const subscription of capabilities.ofKind('subscribe')) refuseUnknownEvent(subscription);
}

export interface Shadowed {
  readonly id: string;
  readonly slot: string;
  /** The name or alias that never reaches this command. */
  readonly name: string;
  readonly by: string;
}

/** Commands with a name that an earlier command already has. */
export function shadowedCommands(capabilities: Capabilities): readonly Shadowed[] {
  const owners = new Map<string, string>();
  return capabilities.ofKind('command').flatMap(({ id, slot, name: own, spec }) =>
    [own, ...(spec.aliases ?? [])].flatMap((name) => {
      const by = owners.get(name);
      if (by === undefined) owners.set(name, id);
      return by === undefined || by === id ? [] : [{ id, slot, name, by }];
    }),
  );
}

const bad = ({ id, slot }: { readonly id: string; readonly slot: string }, what: string): SvcError =>
  new SvcError('definition_invalid', `${id}: ${what}`, { details: { plugin: slot } });

/** Each former name may belong to one handler only, because stored work under that name goes to it. */
function refuseFormerNames(capabilities: Capabilities): void {
  const heirs = new Map<string, string>();
  for (const capability of capabilities.all())
    for (const former of formerIds(capability)) {
      if (capabilities.has(former))
        throw bad(capability, `formerly names ${former}, which is there: it gets its own work`);
      const other = heirs.get(former);
      if (other !== undefined)
        throw bad(capability, `formerly names ${former}, and so does ${other}: one gets its work`);
      heirs.set(former, capability.id);
    }
}

async function refuseBadCommand(command: CommandCapability, prefix: string): Promise<void> {
  if (!/^\S+$/.test(command.name)) throw bad(command, `a name is one word, not ${JSON.stringify(command.name)}`);
  for (const name of [command.name, ...(command.spec.aliases ?? [])])
    if (!/^\S+(?: \S+)*$/.test(name))
      throw bad(command, `an alias is words with one space between them, not ${JSON.stringify(name)}`);
    else if (name.startsWith('/')) throw bad(command, `${name}: its prefix is not part of a name`);
  for (const phrase of command.spec.phrases ?? []) {
    const names = phraseArguments(phrase);
    const unknown = names.find((name) => !Object.hasOwn(command.spec.args ?? {}, name));
    if (unknown !== undefined) throw bad(command, `phrase names unknown argument {${unknown}}`);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw bad(command, `phrase names {${twice}} twice`);
  }
  for (const example of command.spec.examples ?? []) {
    const text = example.startsWith('/') ? prefix + example.slice(1) : example;
    const typed = readCommand(command, text, { prefix, spokenTo: true });
    if (typed === undefined) throw bad(command, `example is not this command: ${example}`);
    const given = { ...typed, people: exampleOf(text) };
    const frame = { prefix, language: 'en' } as const;
    const plain = argumentsOf(command, given, { ...frame, findTime: durationsFor(FRAME) });
    const findTime = plain.ok ? undefined : await timesFor(Object.values(command.spec.args ?? {}), FRAME);
    const read = findTime === undefined ? plain : argumentsOf(command, given, { ...frame, findTime });
    if (!read.ok) throw bad(command, `example does not parse: ${example}: ${read.text}`);
  }
}

/** Whether an example names a time does not depend on when it is read. */
const FRAME = { now: Date.UTC(2026, 0, 1), timezone: 'UTC' };

/** In an example, `@somebody` counts as a mention. */
const exampleOf = (text: string): People =>
  new Map([...text.matchAll(/@[^\s"]+/g)].map(([word]) => [word, { endpoint: 'example', id: word.slice(1) }]));

/** Refuses a subscription to an event that neither the host nor any plugin can emit. */
function refuseUnknownEvent(subscription: SubscriptionCapability): void {
  const { event } = subscription.spec;
  if (eventKind(event) !== undefined) return;
  const fault = faultOfTypeName(event);
  if (fault !== undefined) throw bad(subscription, `there is no event ${event}: it ${fault}`);
}
