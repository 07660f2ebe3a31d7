// Rules about `alerts` that a schema cannot express: accounts and rules that are named have to be there. Pure.
import { RULES } from '../../alerts/rules.ts';
import { valueAt } from '../explain.ts';
import { type Finding, pointerTo, printable } from '../fault.ts';
import { nearest } from '../nearest.ts';
import { isRecord } from '../schema/json-schema.ts';

export const alertChecks = (tree: unknown): readonly Finding[] => [...unknownRules(tree), ...unknownAccounts(tree)];

function unknownRules(tree: unknown): readonly Finding[] {
  const settings = valueAt(tree, '/alerts/rules');
  const names = RULES.map(({ name }) => name);
  return Object.keys(isRecord(settings) ? settings : {}).flatMap((name) => {
    const path = pointerTo('/alerts/rules', name);
    const rule = RULES.find((one) => one.name === name);
    if (rule?.shape.kind === 'prometheus')
      return [{ path, message: 'is for Prometheus alone: a host that is down evaluates nothing. Take it out' }];
    if (rule !== undefined) return [];
    const suggestion = nearest(name, names);
    return [
      {
        path,
        message: 'is no rule: `svc alerts rules` lists them',
        ...(suggestion === undefined ? {} : { suggestion }),
      },
    ];
  });
}

function unknownAccounts(tree: unknown): readonly Finding[] {
  const targets = valueAt(tree, '/alerts/notify');
  if (!Array.isArray(targets)) return [];
  const accounts = accountsOf(valueAt(tree, '/plugins'));
  return targets.flatMap((target: unknown, index) => {
    const name = valueAt(target, '/endpoint');
    if (typeof name !== 'string' || name === '') return [];
    const account = accounts.find((one) => one.name === name || name.endsWith(`:${one.name}`));
    if (account?.isEnabled === true) return [];
    const path = `/alerts/notify/${index}/endpoint`;
    if (account !== undefined)
      return [
        {
          path,
          message: `names ${printable(name)}, which is switched off by \`enabled: false\`: enable it, or name another account`,
        },
      ];
    const suggestion = nearest(
      name,
      accounts.map((one) => one.name),
    );
    return [
      {
        path,
        message: `names ${printable(name)}, and no slot of \`plugins\` has that account: add it, or name another`,
        ...(suggestion === undefined ? {} : { suggestion }),
      },
    ];
  });
}

/** Short names of accounts: `irc~main`, or the slot's own name where it has no list of accounts. */
function accountsOf(plugins: unknown): readonly { readonly name: string; readonly isEnabled: boolean }[] {
  return Object.entries(isRecord(plugins) ? plugins : {}).flatMap(([slot, entry]) => {
    const isOn = (one: unknown): boolean => !isRecord(one) || one['enabled'] !== false;
    const endpoints = isRecord(entry) ? entry['endpoints'] : undefined;
    if (!Array.isArray(endpoints)) return [{ name: slot, isEnabled: isOn(entry) }];
    return endpoints.flatMap((one: unknown) => {
      const id = valueAt(one, '/id');
      return typeof id === 'string' ? [{ name: `${slot}~${id}`, isEnabled: isOn(entry) && isOn(one) }] : [];
    });
  });
}
