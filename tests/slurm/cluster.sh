#!/usr/bin/env bash
# A SLURM of one node on loopback, from Debian's packages: for tests, never for work.
#   cluster.sh up FOLDER      installs what is missing, starts it; state and logs in FOLDER
#   cluster.sh down FOLDER    stops it, and puts back the slurm.conf that was there
#   cluster.sh pause FOLDER   stops the controller alone; resume starts it again
# No systemd, no cgroups, no accounting. It needs root, and touches one file outside
# FOLDER: /etc/slurm/slurm.conf, since a job's step asks there and nowhere else.
set -euo pipefail

readonly conf=${CREDENCE_SLURM_CONF:-/etc/slurm/slurm.conf}
readonly mark="# A cluster of one node for the tests of credence: tests/slurm/cluster.sh"
readonly wait_seconds=60

refuse() {
    echo "$1" >&2
    exit 2
}

is_ours() { [ -e "$conf" ] && head -n 1 "$conf" | grep -qxF "$mark"; }

# The folder of the cluster that wrote the file at its standard place.
folder_of_conf() { sed -n 's/^StateSaveLocation=\(.*\)\/state$/\1/p' "$conf"; }

running() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2> /dev/null; }

# Ends a daemon by its own pid file, and waits until it is gone.
end_daemon() {
    local file=$1 pid
    running "$file" || return 0
    pid=$(cat "$file")
    kill "$pid" 2> /dev/null || return 0
    for _ in $(seq $((wait_seconds * 10))); do
        kill -0 "$pid" 2> /dev/null || return 0
        sleep 0.1
    done
    kill -9 "$pid" 2> /dev/null || true
}

install_packages() {
    local missing=()
    [ -x /usr/sbin/slurmctld ] || missing+=(slurm-wlm)
    [ -x /usr/sbin/munged ] || missing+=(munge)
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get > /dev/null || refuse "SLURM is not installed, and neither is apt-get. Install slurm-wlm and munge."
    # Their packages would start daemons of their own; those are not wanted here.
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
    apt-get install --yes --no-install-recommends "${missing[@]}" > /dev/null 2>&1 ||
        { apt-get update && apt-get install --yes --no-install-recommends "${missing[@]}"; } > /dev/null ||
        refuse "SLURM could not be installed. Try: apt-get install ${missing[*]}"
}

# A file of another cluster is kept aside; one that is in use is not touched.
set_aside() {
    local folder=$1 daemon
    if is_ours; then
        down "$(folder_of_conf)" # what a killed test left
    fi
    if [ -e "$conf" ] && ! grep -Eiq "^(SlurmctldHost|ControlMachine)=($(hostname -s)|$(hostname)|localhost)\b" "$conf"; then
        refuse "$conf names a controller on another machine: this is a real cluster. Run these tests on another machine."
    fi
    for daemon in slurmctld slurmd; do
        if [ -n "$(ps -C "$daemon" -o pid= || true)" ]; then
            refuse "A $daemon runs on this machine: it may be part of a real cluster. Run these tests on another machine."
        fi
    done
    [ ! -e "$conf" ] || cp -p "$conf" "$folder/slurm.conf.before"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

write_conf() {
    local folder=$1 host memory cores
    host=$(hostname -s)
    # nproc obeys OMP_NUM_THREADS, which make sets to 1 for the tests.
    cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
    memory=$(awk '/^MemTotal:/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)
    mkdir -p "$(dirname "$conf")"
    cat > "$conf.credence" << END
$mark
ClusterName=credence
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MailProg=/bin/true
# squeue alone tells how a job ended, and has to remember it: three times the
# first look of the profile (40 s) at least.
MinJobAge=600
ReturnToService=2
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores RealMemory=$memory State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    mv "$conf.credence" "$conf"
}

start_munge() {
    local folder=$1
    (umask 077 && head -c 128 /dev/urandom > "$folder/munge.key")
    /usr/sbin/munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
        --seed-file="$folder/munge.seed" 2> "$folder/munged.err" ||
        refuse "munged does not start: $(cat "$folder/munged.err")"
}

start_controller() { /usr/sbin/slurmctld "${@:2}" || refuse "slurmctld does not start; see $1/slurmctld.log"; }

wait_until_idle() {
    for _ in $(seq $((wait_seconds * 2))); do
        if sinfo --noheader --format=%t 2> /dev/null | grep -qx -e idle -e mix -e alloc; then
            return 0
        fi
        sleep 0.5
    done
    tail -n 20 "$1"/*.log >&2
    refuse "The node does not come up within $wait_seconds s; its logs are in $1."
}

up() {
    local folder=$1
    [ "$(id -u)" = 0 ] || refuse "A cluster is brought up by root alone: run this as root, on a machine where nothing is lost."
    install_packages
    mkdir -p "$folder/state" "$folder/spool"
    chmod 755 "$folder"
    set_aside "$folder"
    trap 'down "$folder"' ERR
    start_munge "$folder"
    write_conf "$folder"
    start_controller "$folder" -c
    /usr/sbin/slurmd || refuse "slurmd does not start; see $folder/slurmd.log"
    wait_until_idle "$folder"
    trap - ERR
    sinfo >&2
}

down() {
    local folder=$1 file
    [ -d "$folder" ] || { is_ours && rm -f "$conf"; return 0; }
    if is_ours && [ "$(folder_of_conf)" = "$folder" ]; then
        running "$folder/slurmctld.pid" && timeout 20 scancel --user="$(id -un)" 2> /dev/null || true
    fi
    for file in slurmd slurmctld munged; do
        end_daemon "$folder/$file.pid"
    done
    if is_ours && [ "$(folder_of_conf)" = "$folder" ]; then
        rm -f "$conf"
        if [ -e "$folder/slurm.conf.before" ]; then
            mv "$folder/slurm.conf.before" "$conf"
        fi
    fi
}

command=${1:-} folder=${2:-}
case "$command" in
    up | down | pause | resume) [ -n "$folder" ] || refuse "Give a folder: $0 $command FOLDER" ;;
    *) refuse "Usage: $0 up|down|pause|resume FOLDER" ;;
esac
folder=$(realpath --canonicalize-missing "$folder")
case "$command" in
    up) up "$folder" ;;
    down) down "$folder" ;;
    pause) end_daemon "$folder/slurmctld.pid" ;;
    resume) start_controller "$folder" && wait_until_idle "$folder" ;;
esac
