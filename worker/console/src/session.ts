// Credentials of the signed-in person. Kept in memory, and on request in sessionStorage until the tab is closed.

export interface Credentials {
  readonly token: string;
  readonly person: string;
}

const KEY = 'svc.chat';

export class Session {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  #current: Credentials | undefined;

  constructor(storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>) {
    this.#storage = storage;
    this.#current = read(storage.getItem(KEY));
  }

  get current(): Credentials | undefined {
    return this.#current;
  }
  /** Empty if nobody is signed in. */
  get token(): string {
    return this.#current?.token ?? '';
  }

  signIn(credentials: Credentials, { keep }: { readonly keep: boolean }): void {
    this.#current = credentials;
    if (keep) this.#storage.setItem(KEY, JSON.stringify(credentials));
    else this.#storage.removeItem(KEY);
  }

  signOut(): void {
    this.#current = undefined;
    this.#storage.removeItem(KEY);
  }
}

function read(text: string | null): Credentials | undefined {
  try {
    const { token, person } = JSON.parse(text ?? '{}') as Readonly<Record<string, unknown>>;
    return typeof token === 'string' && typeof person === 'string' && token !== '' && person !== ''
      ? { token, person }
      : undefined;
  } catch {
    return undefined;
  }
}
