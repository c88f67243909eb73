// RUN: yes
int *Ptr = 0;
