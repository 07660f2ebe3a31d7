// Administrators of a server: its owner, and members with an administering role. Also the bot's own role there.
// Discord is asked when a person writes in the server, and the answer is cached.

import { asObject, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { type Caller, need } from './client.ts';
import type { Account } from './config.ts';
import { isAdministering } from './place.ts';

const KEPT_MS = 600_000;
/** After a failed call the server has no known administrators for this time. */
const FAILED_MS = 60_000;
const MOST = 2_500;
const PATIENCE_MS = 5_000;

interface Guild {
  readonly until: number;
  readonly owner: string | undefined;
  readonly roles: ReadonlySet<string>;
  /** Bot to the role that Discord made for it. */
  readonly ofBots: ReadonlyMap<string, string>;
}

export class GuildAdmins {
  readonly #guilds = new Map<string, Guild>();

  /** Asks for servers that are not cached. Never rejects, and limits the wait. */
  async prepare(guilds: Iterable<string>, now: number, ask: (guild: string) => Promise<Json>): Promise<void> {
    const unknown = [...new Set(guilds)].filter((guild) => (this.#guilds.get(guild)?.until ?? 0) <= now);
    if (unknown.length === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    const asked = Promise.all(
      unknown.map(async (guild) => this.#keep(guild, await ask(guild).catch(() => undefined), now)),
    );
    await Promise.race([asked, late]);
    clearTimeout(timer);
  }

  isAdmin(guild: string, user: string, roles: readonly string[]): boolean {
    const known = this.#guilds.get(guild);
    // The role of all members has the id of the server.
    return known !== undefined && (known.owner === user || [guild, ...roles].some((role) => known.roles.has(role)));
  }

  /** The role that Discord made for the bot. Discord suggests it when a person types the bot's name, since both have the same name. */
  roleOf(guild: string, bot: string): string | undefined {
    return this.#guilds.get(guild)?.ofBots.get(bot);
  }

  /** Forgets a server, because its roles have changed. */
  forget(guild: string): void {
    this.#guilds.delete(guild);
  }

  #keep(guild: string, answer: Json | undefined, now: number): void {
    const all = listAt(answer ?? {}, 'roles');
    const roles = all.filter((role) => isAdministering(textAt(role, 'permissions')));
    if (this.#guilds.size >= MOST) this.#guilds.clear();
    this.#guilds.set(guild, {
      until: now + (answer === undefined ? FAILED_MS : KEPT_MS),
      owner: textAt(answer ?? {}, 'owner_id'),
      roles: new Set(roles.flatMap((role) => textAt(role, 'id') ?? [])),
      ofBots: new Map(all.flatMap(botAndRole)),
    });
  }
}

function botAndRole(role: Json): readonly (readonly [bot: string, role: string])[] {
  const [bot, id] = [textAt(objectAt(role, 'tags'), 'bot_id'), textAt(role, 'id')];
  return bot === undefined || id === undefined ? [] : [[bot, id]];
}

const accounts = new WeakMap<Account, GuildAdmins>();

export function guildAdminsOf(account: Account): GuildAdmins {
  const known = accounts.get(account) ?? new GuildAdmins();
  accounts.set(account, known);
  return known;
}

/** Call before messages of these servers are parsed. Never rejects, and limits the wait. */
export const prepareGuilds = (caller: Caller, guilds: Iterable<string>): Promise<void> =>
  guildAdminsOf(caller.account).prepare(guilds, performance.now(), async (guild) =>
    asObject(await need(caller, { method: 'GET', path: `/guilds/${guild}` })),
  );
