// Prints how many packages are installed with svc. test/rules/tree.test.ts fails where there are more than .ci/build/dependencies.ts says.
import { dependencies } from './build/dependencies.ts';

const { named, installed } = dependencies();
console.log(`${named.length} packages are named as dependencies, ${installed} are installed with them`);
