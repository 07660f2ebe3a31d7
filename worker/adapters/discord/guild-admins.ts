// Who administers a server: its owner, and who has a role that may; and which role there is the bot's own. Asked of Discord where somebody writes
// there, and kept for a while.

import { asObject, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { type Caller, need } from './client.ts';
import type { Account } from './config.ts';
import { isAdministering } from './place.ts';

const KEPT_MS = 600_000;
/** After a call that failed: until then nobody administers. */
const FAILED_MS = 60_000;
const MOST = 2_500;
const PATIENCE_MS = 5_000;

interface Guild {
  readonly until: number;
  readonly owner: string | undefined;
  readonly roles: ReadonlySet<string>;
  /** Bot → the role that Discord made for it. */
  readonly ofBots: ReadonlyMap<string, string>;
}

export class GuildAdmins {
  readonly #guilds = new Map<string, Guild>();

  /** Asks for those that are not known. Never rejects, and keeps nobody waiting for long. */
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
    // The role that everybody has is named like the server.
    return known !== undefined && (known.owner === user || [guild, ...roles].some((role) => known.roles.has(role)));
  }

  /** Discord offers it where somebody types the bot's name: it is called like it. */
  roleOf(guild: string, bot: string): string | undefined {
    return this.#guilds.get(guild)?.ofBots.get(bot);
  }

  /** Its roles have changed. */
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

/** Before what was said there is read. Never rejects, and keeps nobody waiting for long. */
export const prepareGuilds = (caller: Caller, guilds: Iterable<string>): Promise<void> =>
  guildAdminsOf(caller.account).prepare(guilds, performance.now(), async (guild) =>
    asObject(await need(caller, { method: 'GET', path: `/guilds/${guild}` })),
  );
