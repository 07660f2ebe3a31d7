// The suite that every adapter runs, for sandbox: nothing outside, so that only what it says of sends is left.
import { sandbox } from '../../worker/adapters/sandbox/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';

const HERE = 'there is nothing outside that could be asked, be cut or refuse: the row that is stored is the message';

adapterContract(sandbox, {
  account: () => ({}),
  history: [],
  secrets: [],
  without: {
    webhook: 'people write on the chat page and in svc chat: the host itself stores their lines',
    connect: HERE,
    catchUp: 'nothing is said anywhere while the host is away',
    taken: HERE,
    changes: HERE,
    slows: HERE,
    refuses: HERE,
    refused: HERE,
    secrets: 'there is no password',
  },
});
