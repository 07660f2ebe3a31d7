// How one connection comes in at an IRC server of the tests: capabilities (IRCv3 capability-negotiation), nick and user, in any order.
//
//   R1  Welcomed is who has a nick and a user, and has ended the negotiation if one was begun: not before CAP END.
//   R2  What is requested is granted as a whole, or not at all.
//   R3  Afterwards NICK is a change, told by the former name.

export interface RegistrationOptions {
  readonly capabilities?: readonly string[];
  /** Nicks that are in use. */
  readonly taken?: readonly string[];
  /** Tokens of ISUPPORT (005). */
  readonly supports?: string;
}

export class Registration {
  readonly granted = new Set<string>();
  readonly #options: RegistrationOptions;
  #nick = '*';
  #hasUser = false;
  #isNegotiating = false;
  #isWelcomed = false;

  constructor(options: RegistrationOptions = {}) {
    this.#options = options;
  }

  get nick(): string {
    return this.#nick;
  }
  get isWelcomed(): boolean {
    return this.#isWelcomed;
  }

  /** What is answered; undefined for what is nothing of this. */
  take(line: string): readonly string[] | undefined {
    const [command = '', first = '', ...words] = line.split(' ');
    switch (command) {
      case 'CAP':
        return this.#capabilities(first, words.join(' ').replace(/^:/, '').trim());
      case 'NICK':
        return this.#named(first.replace(/^:/, ''));
      case 'USER':
        this.#hasUser = true;
        return this.#welcome();
      default:
        return undefined;
    }
  }

  #capabilities(command: string, list: string): readonly string[] {
    const { capabilities = [] } = this.#options;
    switch (command) {
      case 'LS':
        this.#isNegotiating = !this.#isWelcomed;
        return [`:s CAP ${this.#nick} LS :${capabilities.join(' ')}`];
      case 'LIST':
        return [`:s CAP ${this.#nick} LIST :${[...this.granted].join(' ')}`];
      case 'REQ': {
        const wanted = list.split(' ');
        const isKnown = wanted.every((name) => capabilities.includes(name));
        if (isKnown) for (const name of wanted) this.granted.add(name);
        return [`:s CAP ${this.#nick} ${isKnown ? 'ACK' : 'NAK'} :${list}`];
      }
      case 'END':
        this.#isNegotiating = false;
        return this.#welcome();
      default:
        return [`:s 410 ${this.#nick} ${command} :Invalid CAP command`];
    }
  }

  #named(nick: string): readonly string[] {
    if (this.#options.taken?.includes(nick)) return [`:s 433 ${this.#nick} ${nick} :Nickname is already in use`];
    const former = this.#nick;
    this.#nick = nick;
    return this.#isWelcomed ? [`:${former}!u@h NICK :${nick}`] : this.#welcome();
  }

  #welcome(): readonly string[] {
    if (this.#isWelcomed || this.#isNegotiating || !this.#hasUser || this.#nick === '*') return [];
    this.#isWelcomed = true;
    const supports = ['CHANTYPES=#', this.#options.supports ?? ''].join(' ').trim();
    return [
      `:s 001 ${this.#nick} :Welcome`,
      `:s 005 ${this.#nick} ${supports} :are supported by this server`,
      `:s 376 ${this.#nick} :End of /MOTD command`,
    ];
  }
}
