#!/bin/bash
# An unmodified script of 2018 on two machines with two GPUs each: sbatch slurm.sh train.py
# `multi_gpu_model(model, gpus=2)` in it means the two GPUs of each task.
#SBATCH --job-name=parallel-compat
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-task=2
#SBATCH --cpus-per-task=8
#SBATCH --time=24:00:00

# `srun` takes the CPUs of a task from its own options alone.
srun --kill-on-bad-exit=1 --label --cpus-per-task="$SLURM_CPUS_PER_TASK" parallel-compat run "$@"
