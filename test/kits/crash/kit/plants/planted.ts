// Faults that prove the crash kit: each is a decorator of a class of the worker, in the build with failpoints alone (.ci/build/plants.ts puts it
// in the place of the class). SVC_PLANT names the one that a process has. Read once: a worker clears its environment.
const plant = process.env['SVC_PLANT'];

export const planted = (name: string): boolean => plant === name;
