// The supervisor, which at SIGUSR2 writes into ./objects how many live objects it has, and how many of them are a child process or a stream.
import { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Stream } from 'node:stream';
import { queryObjects } from 'node:v8';
import '../../../supervisor/main.ts';

// Counting collects first.
const count = (of: new (...args: never[]) => object): number => Number(queryObjects(of, { format: 'count' }));

process.on('SIGUSR2', () => {
  const counts = { processes: count(ChildProcess), streams: count(Stream), objects: count(Object) };
  writeFileSync('objects', JSON.stringify(counts));
});
