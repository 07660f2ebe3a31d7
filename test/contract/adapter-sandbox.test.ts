// The suite that every adapter runs, for sandbox: nothing outside, so that only what it says of sends is left.
import { sandbox } from '../../worker/adapters/sandbox/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';

adapterContract(sandbox, { account: () => ({}), history: [], secrets: [] });
