// RUN: yes
int *First = nullptr;
// The next one is misspelt.
// CHECK-MESSAGE: :[[@LINE-1]]:14: warning: use nullptr
